import type { Granted } from '../../features/grants/words.ts'
import { noDateText } from '../../lib/format/ending.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useDialogParam } from '../../lib/navigation/url-state.ts'
import { Button } from '../../ui/button.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'

const GrantsDialog = lazyNamed(() => import('../../features/grants/grants-dialog.tsx'), 'GrantsDialog')

const dialogs = ['why'] as const

/** A button beside an end that says why it is this one. */
export function WhyEnd({ granted }: { granted: Granted }) {
  const dialog = useDialogParam(dialogs)
  const isNever = granted.expiresAt === null && noDateText(granted) === 'Never'
  const title = isNever ? 'Why does it never expire?' : 'Why does it end then?'
  return (
    <>
      <Button variant="link" className="ml-2" aria-label={title} onClick={() => dialog.open('why')}>
        Why?
      </Button>
      <DialogSlot>
        {dialog.kind && granted.grants && (
          <GrantsDialog title={title} granted={granted} onClose={dialog.close} />
        )}
      </DialogSlot>
    </>
  )
}
