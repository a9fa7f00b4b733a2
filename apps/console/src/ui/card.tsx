import type { ComponentProps, ReactNode } from 'react'
import { cx } from './cx.ts'
import { Skeleton } from './skeleton.tsx'

export function Card({ className, ...props }: ComponentProps<'section'>) {
  return <section className={cx('min-w-0 rounded-xl border bg-surface shadow-soft', className)} {...props} />
}

export interface CardHeaderProps {
  title: ReactNode
  description?: ReactNode
  actions?: ReactNode
  /** The actions have a line of their own, whatever the width of the description. */
  stacked?: boolean
  level?: 2 | 3
}

export function CardHeader({ title, description, actions, stacked, level = 2 }: CardHeaderProps) {
  const Heading = `h${level}` as const
  return (
    <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-3 px-5 py-4">
      <div className="grid min-w-0 gap-0.5">
        <Heading className="font-semibold text-[0.9375rem]">{title}</Heading>
        {description && <p className="text-fg-muted">{description}</p>}
      </div>
      {actions && (
        <div className={cx('flex flex-wrap items-center gap-2', stacked && 'basis-full')}>{actions}</div>
      )}
    </header>
  )
}

export function CardBody({ className, ...props }: ComponentProps<'div'>) {
  return <div className={cx('px-5 pb-5', className)} {...props} />
}

export interface StatCardProps {
  label: string
  value: ReactNode
  /** Small text after the value, for example 'of 2'. */
  detail?: ReactNode
  /** A line under the value; invisible while loading, to keep the layout stable. */
  note?: ReactNode
  icon?: ReactNode
  loading?: boolean
}

export function StatCard({ label, value, detail, note, icon, loading }: StatCardProps) {
  return (
    <Card className="grid grid-cols-[minmax(0,1fr)] content-start gap-1 px-4 py-3.5 md:px-5 md:py-4">
      <div className="flex items-center justify-between gap-2 text-fg-muted [&_svg]:size-4">
        <span className="truncate font-medium text-[0.8125rem]">{label}</span>
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
      {note && <p className={cx('text-[0.8125rem] text-fg-muted', loading && 'invisible')}>{note}</p>}
    </Card>
  )
}
