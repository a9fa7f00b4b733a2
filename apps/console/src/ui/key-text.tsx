import { cx } from './cx.ts'

/** A license key, or the start of one, whose groups stand apart. */
export function KeyText({ children: key, className }: { children: string; className?: string }) {
  return (
    <code className={cx('font-mono text-[0.8125rem]', className)}>
      {key.split(/(-)/).map((part, index) =>
        part === '-' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the groups of a key have an order and nothing else
          <span key={index} className="mx-px text-fg-faint">
            -
          </span>
        ) : (
          part
        ),
      )}
    </code>
  )
}
