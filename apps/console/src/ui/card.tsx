import type { ComponentProps, ReactNode } from 'react'
import { cx } from './cx.ts'

export function Card({ className, ...props }: ComponentProps<'section'>) {
  return <section className={cx('min-w-0 rounded-xl border bg-surface shadow-soft', className)} {...props} />
}

export interface CardHeaderProps {
  title: ReactNode
  description?: ReactNode
  actions?: ReactNode
  /** The actions have a line of their own, whatever the width of the description. */
  stacked?: boolean
  /** The actions are a FilterBar, whose search and open selects have lines of their own below its button on phones. */
  filters?: boolean
  level?: 2 | 3
}

export function CardHeader({ title, description, actions, stacked, filters, level = 2 }: CardHeaderProps) {
  const Heading = `h${level}` as const
  return (
    <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-3 px-4 py-3 md:px-5 md:py-4">
      <div className="grid min-w-0 gap-0.5 max-md:flex-1 max-md:basis-48">
        <Heading className="wrap-anywhere font-semibold text-[0.9375rem]">{title}</Heading>
        {description && <p className="wrap-anywhere text-fg-muted">{description}</p>}
      </div>
      {actions && (
        <div
          className={cx(
            'flex flex-wrap items-center gap-2',
            filters && 'max-md:contents',
            stacked && 'md:basis-full',
          )}
        >
          {actions}
        </div>
      )}
    </header>
  )
}

export function CardBody({ className, ...props }: ComponentProps<'div'>) {
  return <div className={cx('px-4 pb-4 md:px-5 md:pb-5', className)} {...props} />
}

/** The buttons of a form that is longer than the screen stay at its bottom edge. */
export function CardFooter({ className, ...props }: ComponentProps<'footer'>) {
  return (
    <footer
      className={cx(
        'sticky bottom-(--tab-bar) z-10 flex flex-wrap justify-end gap-2 rounded-b-xl border-t bg-surface px-4 py-3 md:px-5',
        className,
      )}
      {...props}
    />
  )
}
