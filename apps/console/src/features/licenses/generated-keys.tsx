import type { License } from '@keyward/contract'
import { noDateText } from '../../lib/format/ending.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { CopyKeys } from '../../ui/copy-keys.tsx'
import { DateText } from '../../ui/date.tsx'
import { DoneFooter } from '../../ui/dialog.tsx'
import { DialogResult } from '../../ui/dialog-result.tsx'
import { KeyText } from '../../ui/key-text.tsx'

export interface GeneratedKeysProps {
  licenses: License[]
  onMore: () => void
  onDone: () => void
}

export function GeneratedKeys({ licenses, onMore, onDone }: GeneratedKeysProps) {
  const [first] = licenses
  if (!first) return null
  return (
    <>
      <DialogResult>
        <CopyKeys keys={licenses.map((license) => license.key)}>
          {first.app.name}, {first.expiresAt ? 'until ' : 'expires: '}
          <DateText value={first.expiresAt} none={noDateText(first)} />
        </CopyKeys>
        <ul className="divide-y rounded-lg border bg-sunken">
          {licenses.map((license) => (
            <li key={license._id} className="flex items-center gap-2 py-1 pr-1 pl-3">
              <KeyText className="min-w-0 flex-1 break-all">{license.key}</KeyText>
              <CopyButton
                text={license.key}
                label={`Copy ${license.key}`}
                message="License key copied to clipboard"
              />
            </li>
          ))}
        </ul>
      </DialogResult>
      <DoneFooter onDone={onDone}>
        <Button onClick={onMore}>Generate More</Button>
      </DoneFooter>
    </>
  )
}
