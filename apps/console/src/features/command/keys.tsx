import { cx } from '../../ui/cx.ts'

/** A shortcut; spaces separate keys. */
export function Keys({ keys, className }: { keys: string; className?: string }) {
  return (
    <span className={cx('flex shrink-0 items-center gap-1', className)}>
      {keys.split(' ').map((key) => (
        <kbd
          key={key}
          className="grid h-5 min-w-5 place-items-center rounded border bg-surface px-1.5 font-sans text-fg-muted text-xs"
        >
          {key}
        </kbd>
      ))}
    </span>
  )
}
