import type { ClipboardEvent } from 'react'
import { CopyButton, secretMask } from './copy-button.tsx'
import { cx } from './cx.ts'

export interface CodeBlockProps {
  code: string
  /** Shown above the code, for example a file name. */
  title: string
  /** A part of the code that is hidden on the screen; copies contain it. */
  hidden?: string | undefined
  /** Breaks long lines instead of scrolling. */
  wrap?: boolean
  /** Called when the code, or a part of it, was copied. */
  onCopied?: () => void
}

export function CodeBlock({ code, title, hidden, wrap = false, onCopied }: CodeBlockProps) {
  const copySelection = (event: ClipboardEvent) => {
    const selected = String(window.getSelection())
    if (hidden && selected.includes(secretMask)) {
      event.clipboardData.setData('text/plain', selected.replaceAll(secretMask, hidden))
      event.preventDefault()
    }
    onCopied?.()
  }
  return (
    <figure className="min-w-0 overflow-hidden rounded-lg border bg-sunken">
      <figcaption className="flex items-center justify-between border-b py-1 pr-1 pl-3">
        <span className="font-mono text-fg-muted text-xs">{title}</span>
        <CopyButton text={code} label={`Copy ${title}`} onCopied={onCopied} />
      </figcaption>
      {/* What scrolls must be reachable by keyboard. */}
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        tabIndex={0}
        aria-label={title}
        onCopy={copySelection}
        className="overflow-x-auto -outline-offset-2"
      >
        <pre
          className={cx(
            'p-3 font-mono text-[0.8125rem] leading-relaxed',
            wrap ? 'wrap-anywhere whitespace-pre-wrap' : 'w-max',
          )}
        >
          <code>{hidden ? code.replaceAll(hidden, secretMask) : code}</code>
        </pre>
      </section>
    </figure>
  )
}
