import { ChevronDown } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { readStored, writeStored } from '../lib/browser/stored.ts'
import { Card } from './card.tsx'

export interface ExplainerProps {
  title: string
  lead: string
  /** What is explained, for remembering that this account has understood it. */
  topic: string
  account: string | undefined
  /** The account already uses what this explains. */
  done: boolean
  children: ReactNode
}

/** Open for newcomers. Once it is closed or done, it stays closed until it is opened by hand. */
export function Explainer({ title, lead, topic, account, done, children }: ExplainerProps) {
  const key = `keyward-explained-${account}-${topic}`
  const [open, setOpen] = useState(() => !done && readStored(key) === null)
  useEffect(() => {
    if (!done || readStored(key) !== null) return
    writeStored(key, 'yes')
    setOpen(false)
  }, [done, key])
  return (
    <Card>
      <details className="group" open={open}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a button */}
        <summary
          className="flex cursor-pointer list-none items-center justify-between gap-4 rounded-xl px-4 py-3 md:px-5 [&::-webkit-details-marker]:hidden"
          onClick={(event) => {
            event.preventDefault()
            if (open) writeStored(key, 'yes')
            setOpen(!open)
          }}
        >
          <span className="grid gap-0.5">
            <span className="font-semibold text-[0.9375rem]">{title}</span>
            <span className="text-fg-muted">{lead}</span>
          </span>
          <ChevronDown
            aria-hidden
            className="size-4 shrink-0 text-fg-muted transition-transform group-open:rotate-180"
          />
        </summary>
        {children}
      </details>
    </Card>
  )
}
