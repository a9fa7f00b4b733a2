import type { ReactNode } from 'react'

interface Fact {
  /** The label, unless several have the same one. */
  key?: string
  label: string
  value: ReactNode
}

/** Label and value pairs, one a line. */
export function Facts({ items }: { items: Fact[] }) {
  return (
    <dl className="divide-y">
      {items.map((item) => (
        <div key={item.key ?? item.label} className="flex items-center justify-between gap-4 py-2.5">
          <dt className="wrap-normal text-fg-muted">{item.label}</dt>
          <dd className="wrap-anywhere min-w-0 text-right font-medium">{item.value}</dd>
        </div>
      ))}
    </dl>
  )
}
