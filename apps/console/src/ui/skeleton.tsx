import { cx } from './cx.ts'

export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={cx('block animate-pulse rounded-md bg-hover', className)} />
}
