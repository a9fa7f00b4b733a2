import { TriangleAlert } from 'lucide-react'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton, CopyField } from '../../ui/copy-button.tsx'
import { DoneFooter } from '../../ui/dialog.tsx'
import { DialogResult } from '../../ui/dialog-result.tsx'
import { Callout } from '../../ui/states.tsx'
import { toCurl } from './curl-example.ts'
import { describe } from './permission-words.ts'
import type { CreatedApiKey } from './queries.ts'

export interface CreatedKeyProps {
  created: CreatedApiKey
  onDone: () => void
}

export function CreatedKey({ created: { apiKey, key }, onDone }: CreatedKeyProps) {
  const baseUrl = usePublicConfig()?.publicUrl ?? window.location.origin
  const curl = toCurl(baseUrl, key, apiKey.permissions)
  return (
    <>
      <DialogResult>
        <Callout tone="warning" icon={<TriangleAlert aria-hidden />}>
          The key is shown only once. Keep it like a password: everybody who has it can use it.
        </Callout>
        <CopyField label="API key" value={key} />
        {curl && <CodeBlock title="Try it" code={curl} hidden={key} />}
        <p className="text-[0.8125rem] text-fg-muted">
          It may: {describe(apiKey.permissions)}. The{' '}
          <a href={paths.docs} target="_blank" rel="noreferrer" className="text-accent-text underline">
            API docs
          </a>{' '}
          name the permission of each call.
        </p>
      </DialogResult>
      <DoneFooter onDone={onDone}>
        <CopyButton text={key} label="Copy key">
          Copy key
        </CopyButton>
      </DoneFooter>
    </>
  )
}
