import { cx } from './cx.ts'

/** The logo without the name. */
export function LogoMark({ className }: { className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 32 32" className={cx('size-7', className)}>
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M10 7.5v17M22 7.5 12.6 16 22 24.5"
        fill="none"
        stroke="#fff"
        strokeWidth="3.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
