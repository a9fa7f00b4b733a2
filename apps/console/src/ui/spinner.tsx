import { LoaderCircle } from 'lucide-react'
import { cx } from './cx.ts'

export function Spinner({ className }: { className?: string }) {
  return <LoaderCircle aria-hidden className={cx('size-4 animate-spin', className)} />
}

/** Fills the page while loading. */
export function PageSpinner({ label = 'Loading' }: { label?: string }) {
  return (
    <div role="status" className="grid min-h-[60dvh] place-items-center text-fg-muted">
      <Spinner className="size-6" />
      <span className="sr-only">{label}</span>
    </div>
  )
}
