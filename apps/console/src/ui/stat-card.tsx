import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { Card } from './card.tsx'
import { cx } from './cx.ts'
import { Skeleton } from './skeleton.tsx'

export interface StatCardProps {
  label: string
  value: ReactNode
  /** Small text after the value, for example 'of 2'. */
  detail?: ReactNode
  /** A line under the value; invisible while loading, to keep the layout stable. */
  note?: ReactNode
  icon?: ReactNode
  /** The list that the value counts; a click anywhere on the card opens it. */
  to?: string | undefined
  loading?: boolean
  /** On phones two lines without an icon, for a strip of several. */
  strip?: boolean
}

export function StatCard({ label, value, detail, note, icon, to, loading, strip = false }: StatCardProps) {
  return (
    <Card
      className={cx(
        'grid content-start md:gap-1 md:px-5 md:py-4',
        to !== undefined && 'relative transition-colors hover:border-line-strong',
        strip
          ? 'max-md:h-14.5 max-md:grid-cols-[auto_minmax(0,1fr)] max-md:grid-rows-[1.25rem_1.75rem] max-md:items-center max-md:gap-x-2 max-md:px-3 max-md:py-1 max-md:[&>:last-child]:truncate max-md:[&>:first-child]:col-span-2 max-md:[&_p>span]:text-lg max-md:[&_svg]:hidden md:grid-cols-[minmax(0,1fr)]'
          : 'grid-cols-[minmax(0,1fr)] max-md:gap-1 max-md:px-4 max-md:py-3.5',
      )}
    >
      <div className="flex items-center justify-between gap-2 text-fg-muted [&_svg]:size-4">
        <span className="truncate font-medium text-[0.8125rem]" title={label}>
          {to === undefined ? (
            label
          ) : (
            <Link
              to={to}
              className="outline-none after:absolute after:inset-0 after:rounded-xl focus-visible:after:outline-2 focus-visible:after:outline-accent"
            >
              {label}
            </Link>
          )}
        </span>
        {icon}
      </div>
      {loading ? (
        <Skeleton className="my-1 h-6 w-16" />
      ) : (
        <p className="flex flex-wrap items-baseline gap-x-1.5">
          <span className="font-semibold text-2xl tabular-nums tracking-tight">{value}</span>
          {detail && <span className="text-fg-muted">{detail}</span>}
        </p>
      )}
      {note && (
        <p
          className={cx('text-[0.8125rem] text-fg-muted', loading && 'invisible')}
          title={strip && typeof note === 'string' ? note : undefined}
        >
          {note}
        </p>
      )}
    </Card>
  )
}
