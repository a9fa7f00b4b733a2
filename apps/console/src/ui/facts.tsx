import type { ReactNode } from 'react'

/** Label and value pairs, one a line. */
export function Facts({ items }: { items: { label: string; value: ReactNode }[] }) {
  return (
    <dl className="divide-y">
      {items.map((item) => (
        <div key={item.label} className="flex items-center justify-between gap-4 py-2.5">
          <dt className="wrap-normal text-fg-muted">{item.label}</dt>
          <dd className="wrap-anywhere min-w-0 text-right font-medium">{item.value}</dd>
        </div>
      ))}
    </dl>
  )
}
