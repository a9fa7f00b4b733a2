import type { ReactNode } from 'react'
import { useTitle } from './use-title.ts'

export interface PageHeaderProps {
  /** Also the title of the browser tab, unless `tabTitle` is set. */
  title: string
  tabTitle?: string
  subtitle?: ReactNode
  actions?: ReactNode
}

export function PageHeader({ title, tabTitle, subtitle, actions }: PageHeaderProps) {
  useTitle(tabTitle ?? title)
  return (
    <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="grid min-w-0 gap-1">
        <h1 className="wrap-anywhere font-semibold text-2xl tracking-tight">{title}</h1>
        {subtitle && <p className="wrap-anywhere text-fg-muted">{subtitle}</p>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  )
}
