import { CircleAlert, RefreshCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { cx } from './cx.ts'

export interface EmptyStateProps {
  icon?: ReactNode
  title: ReactNode
  description?: ReactNode
  /** The next step: one or two buttons. */
  actions?: ReactNode
  className?: string
}

export function EmptyState({ icon, title, description, actions, className }: EmptyStateProps) {
  return (
    <div className={cx('grid justify-items-center gap-1 px-6 py-12 text-center', className)}>
      {icon && (
        <div className="key-row mb-3">
          <div className="grid size-11 place-items-center rounded-xl border bg-sunken text-fg-muted [&_svg]:size-5">
            {icon}
          </div>
        </div>
      )}
      <p className="font-semibold text-[0.9375rem]">{title}</p>
      {description && <p className="max-w-md text-pretty text-fg-muted">{description}</p>}
      {actions && <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  )
}

/** The same in a line, for a part of a page. */
export const EmptyLine = ({ title, description }: Pick<EmptyStateProps, 'title' | 'description'>) => (
  <p className="border-t px-4 py-3 text-fg-muted md:px-5">
    <span className="font-medium text-fg">{title}</span>. {description}
  </p>
)

export interface ErrorStateProps {
  title: ReactNode
  description?: ReactNode
  onRetry?: () => void
  retrying?: boolean
  /** What helps instead of a retry. */
  remedy?: { label: string; onClick: () => void } | undefined
  className?: string
}

export function ErrorState({ title, description, onRetry, retrying, remedy, className }: ErrorStateProps) {
  return (
    <div role="alert" className={cx('grid justify-items-center gap-1 px-6 py-12 text-center', className)}>
      <div className="key-row mb-3">
        <div className="grid size-11 place-items-center rounded-xl border border-danger-line bg-danger-soft text-danger-text">
          <CircleAlert aria-hidden className="size-5" />
        </div>
      </div>
      <p className="font-semibold text-[0.9375rem]">{title}</p>
      {description && <p className="max-w-md text-pretty text-fg-muted">{description}</p>}
      {remedy ? (
        <Button className="mt-4" onClick={remedy.onClick}>
          {remedy.label}
        </Button>
      ) : (
        onRetry && (
          <Button className="mt-4" onClick={onRetry} loading={retrying}>
            {retrying ? (
              'Trying Again…'
            ) : (
              <>
                <RefreshCw />
                Try Again
              </>
            )}
          </Button>
        )
      )}
    </div>
  )
}

interface Query {
  error: Error | null
  isFetching: boolean
  refetch(): unknown
}

export interface QueryErrorProps extends Pick<ErrorStateProps, 'title' | 'description' | 'className'> {
  query: Query
  /** With a border, as a part of a dialog or page. */
  boxed?: boolean
}

/** Why a query failed, with a retry. */
export function QueryError({ query, boxed, description, className, ...props }: QueryErrorProps) {
  return (
    <ErrorState
      {...props}
      className={cx(boxed && 'rounded-lg border py-8', className)}
      description={description ?? query.error?.message}
      onRetry={() => void query.refetch()}
      retrying={query.isFetching}
    />
  )
}

const calloutTones = {
  accent: 'border-accent-line bg-accent-soft [&>svg]:text-accent-text',
  neutral: 'border-line bg-sunken [&>svg]:text-fg-muted',
  warning: 'border-warning-line bg-warning-soft [&>svg]:text-warning-text',
  danger: 'border-danger-line bg-danger-soft [&>svg]:text-danger-text',
}

export interface CalloutProps {
  tone?: keyof typeof calloutTones
  icon?: ReactNode
  title?: ReactNode
  children?: ReactNode
  action?: ReactNode
  className?: string
}

/** A banner inside the page for offers, warnings and explanations. */
export function Callout({ tone = 'neutral', icon, title, children, action, className }: CalloutProps) {
  return (
    <div
      className={cx(
        'flex flex-wrap items-center gap-x-4 gap-y-3 rounded-xl border px-4 py-3.5 md:px-5 [&>svg]:size-5 [&>svg]:shrink-0',
        calloutTones[tone],
        className,
      )}
    >
      {icon}
      <div className="min-w-0 flex-1 basis-60">
        {title && <p className="font-semibold">{title}</p>}
        {children && <div className="text-fg-muted">{children}</div>}
      </div>
      {action}
    </div>
  )
}
