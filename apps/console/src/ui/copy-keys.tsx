import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'

export interface CopyKeysProps {
  keys: readonly string[]
  /** What the keys are for. */
  children: ReactNode
}

/** Copies generated license keys, one a line. */
export function CopyKeys({ keys, children }: CopyKeysProps) {
  const many = keys.length > 1
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <p className="min-w-0 text-fg-muted">{children}</p>
      <CopyButton
        text={keys.join('\n')}
        label={many ? 'Copy all license keys' : 'Copy license key'}
        message={many ? 'License keys copied to clipboard' : 'License key copied to clipboard'}
      >
        {many ? 'Copy all' : 'Copy'}
      </CopyButton>
    </div>
  )
}
