import { cx } from './cx.ts'

/** The logo without the name. */
export function LogoMark({ className }: { className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 32 32" className={cx('size-7', className)}>
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <g fill="none" stroke="#fff" strokeWidth="3.2" strokeLinecap="round">
        <path d="M9.5 7.5v17M12.4 16l6-4.9M12.4 16l9.6 8.5" />
        <circle cx="21.2" cy="9.4" r="3.1" strokeWidth="2.6" />
      </g>
    </svg>
  )
}
