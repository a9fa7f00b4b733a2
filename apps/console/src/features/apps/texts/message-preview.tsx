import type { MessageKey } from '@keyward/contract'

/** A message as an end user sees it, in a window of the program. */
export function MessagePreview({ appName, code, text }: { appName: string; code: MessageKey; text: string }) {
  const shown = text.replaceAll('{reason}', 'Chargeback').trim()
  return (
    <section
      aria-label="Preview"
      className="flex items-center gap-4 border-t bg-sunken/50 px-5 py-3 max-md:hidden"
    >
      <div className="w-32 shrink-0">
        <p className="font-medium text-[0.8125rem]">Preview</p>
        <code className="font-mono text-fg-muted text-xs">{code}</code>
      </div>
      <div className="min-w-0 flex-1 rounded-lg border bg-surface shadow-soft">
        <p className="flex items-center gap-1.5 border-b px-3 py-1 text-fg-muted text-xs">
          <span aria-hidden className="size-2 shrink-0 rounded-full bg-line-strong" />
          <span className="truncate" title={appName}>
            {appName}
          </span>
        </p>
        <p className="wrap-anywhere line-clamp-2 min-h-9 px-3 py-2">{shown}</p>
      </div>
    </section>
  )
}
