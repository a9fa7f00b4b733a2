import type { ReactNode } from 'react'
import { cx } from './cx.ts'
import { useTitle } from './use-title.ts'

export interface PageHeaderProps {
  /** The page's heading, and the title of the browser tab unless `tabTitle` is set. */
  title: string
  tabTitle?: string
  subtitle?: ReactNode
  /** Shown next to the title, for example a status. */
  badge?: ReactNode
  actions?: ReactNode
  /** The button of the page's main action. On phones it stays at the bottom of the window. */
  primary?: ReactNode
}

export function PageHeader({ title, tabTitle, subtitle, badge, actions, primary }: PageHeaderProps) {
  useTitle(tabTitle ?? title)
  return (
    <header className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 md:gap-x-6">
      <div
        className={cx(
          'flex min-h-9 min-w-0 flex-wrap items-center gap-x-3 gap-y-1 md:flex-1',
          // Keeps the menu on the line of a title with a badge.
          badge !== undefined && 'max-md:flex-1 max-md:basis-40',
        )}
      >
        <h1 className="wrap-anywhere min-w-0 font-semibold text-2xl tracking-tight">{title}</h1>
        {badge}
      </div>
      {(actions || primary) && (
        <div className="flex flex-wrap items-center gap-2">
          {actions}
          {primary && (
            <div
              data-primary-bar=""
              className="max-md:fixed max-md:inset-x-0 max-md:bottom-(--tab-bar) max-md:z-20 max-md:border-t max-md:bg-page max-md:px-4 max-md:py-2 max-md:pb-[max(0.5rem,var(--safe-bottom))] max-md:[&>*]:h-11 max-md:[&>*]:w-full"
            >
              {primary}
            </div>
          )}
        </div>
      )}
      {subtitle && <p className="wrap-anywhere basis-full text-fg-muted">{subtitle}</p>}
    </header>
  )
}
