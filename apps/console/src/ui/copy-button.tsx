import { Check, Copy } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { toast } from './toast.tsx'

/** Copies text, shows a toast and returns whether it worked. */
export async function copyText(text: string, message = 'Copied to clipboard'): Promise<boolean> {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text)
    else copyWithSelection(text)
    toast.success(message)
    return true
  } catch {
    toast.error('Failed to copy. Select the text and copy it yourself.')
    return false
  }
}

/** Browsers offer no clipboard API on plain http from another machine. */
function copyWithSelection(text: string) {
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  const host = document.activeElement?.closest('[role="dialog"], [role="alertdialog"]') ?? document.body
  host.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  if (!done) throw new Error('copy was refused')
}

export interface CopyButtonProps {
  text: string
  /** What is copied, for example 'Copy app ID'. */
  label: string
  /** Toast; 'Copied to clipboard' by default. */
  message?: string
  onCopied?: () => void
  /** Text of the button; an icon button without children. */
  children?: ReactNode
  className?: string
}

export function CopyButton({ text, label, message, onCopied, children, className }: CopyButtonProps) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    const done = await copyText(text, message)
    setCopied(done)
    if (done) onCopied?.()
  }
  const icon = copied ? <Check className="text-success-text" /> : <Copy />
  if (!children) {
    return (
      <IconButton label={label} onClick={copy} className={className}>
        {icon}
      </IconButton>
    )
  }
  return (
    <Button onClick={copy} aria-label={label} className={className}>
      {icon}
      {children}
    </Button>
  )
}

export interface CopyFieldProps {
  label: string
  /** Null if the user may not see it. */
  value: string | null
  /** Hidden until the user clicks Show. */
  secret?: boolean
  /** With `onShow`: whether the secret is shown, if the caller decides it. */
  shown?: boolean
  onShow?: (shown: boolean) => void
}

/** Shown instead of a hidden secret. */
export const secretMask = '•'.repeat(24)

/** A label and a value with a copy button. */
export function CopyField({ label, value, secret = false, shown: shownOutside, onShow }: CopyFieldProps) {
  const [own, setOwn] = useState(!secret)
  const shown = shownOutside ?? own
  return (
    <div className="grid min-w-0 gap-1">
      <div className="flex items-baseline justify-between gap-2">
        <span className="font-medium text-[0.8125rem] text-fg-muted">{label}</span>
        {secret && value !== null && (
          <button
            type="button"
            className="rounded py-0.5 text-accent-text text-xs hover:underline"
            onClick={() => (onShow ?? setOwn)(!shown)}
          >
            {shown ? 'Hide' : 'Show'}
            <span className="sr-only"> {label}</span>
          </button>
        )}
      </div>
      <div className="flex min-h-9 items-center gap-1 rounded-lg border bg-sunken py-0.5 pr-0.5 pl-3">
        {value === null ? (
          <span className="text-[0.8125rem] text-fg-muted">Your role does not show it</span>
        ) : (
          <>
            <code className="min-w-0 flex-1 break-all py-1 font-mono text-[0.8125rem]">
              {shown ? value : secretMask}
            </code>
            <CopyButton text={value} label={`Copy ${label.toLowerCase()}`} />
          </>
        )}
      </div>
    </div>
  )
}
