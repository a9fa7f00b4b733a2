import type { ComponentType, ReactNode } from 'react'
import { Card } from './card.tsx'

/** The link of the router, or one that first loads it. */
export type LinkPart = ComponentType<{
  to: string
  state?: unknown
  className?: string
  'aria-label'?: string
  children: ReactNode
}>

export interface AuthFrameProps {
  logo: ReactNode
  title: ReactNode
  lead: ReactNode
  /** In the card. */
  children: ReactNode
  /** Under the card. */
  footer: ReactNode
}

/** A sign-in page: a logo, a title and one card. */
export function AuthFrame({ logo, title, lead, children, footer }: AuthFrameProps) {
  return (
    <main className="grid min-h-dvh content-start justify-items-center gap-6 px-4 pt-[max(2.5rem,12dvh)] pb-10">
      <header className="grid justify-items-center gap-3 text-center">
        <div className="key-row">{logo}</div>
        <div className="grid gap-1">
          <h1 className="font-semibold text-2xl tracking-tight">{title}</h1>
          <p className="text-fg-muted">{lead}</p>
        </div>
      </header>
      <Card className="w-full max-w-md p-5 md:p-6">{children}</Card>
      <div className="grid max-w-md gap-2 text-center text-fg-muted">{footer}</div>
    </main>
  )
}

/** A link in a line of text. */
export const textLinkClass = 'rounded-sm font-medium text-accent-text underline-offset-4 hover:underline'
