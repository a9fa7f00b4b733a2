import type { ReactNode } from 'react'
import { useIsPhone } from '../lib/browser/use-media.ts'
import { formatNumber } from '../lib/format/numbers.ts'
import { cx } from './cx.ts'
import { StatCard } from './stat-card.tsx'

export interface StatRowProps {
  /** The accessible name of the row. */
  label?: string
  stats: {
    label: string
    value: number | undefined
    note?: ReactNode
    icon?: ReactNode
    to?: string | undefined
  }[]
  loading?: boolean
}

const columns: Record<number, string> = {
  3: 'max-md:auto-cols-[10.75rem] md:grid-flow-row md:grid-cols-3',
  4: 'max-md:auto-cols-[10.75rem] md:grid-flow-row md:grid-cols-2 lg:grid-cols-4',
  5: 'max-md:auto-cols-[12.5rem] md:grid-flow-row md:grid-cols-3 lg:grid-cols-5',
}

/** Three to five counts side by side; on phones one strip that scrolls sideways. */
export function StatRow({ label = 'Figures', stats, loading = false }: StatRowProps) {
  const phone = useIsPhone()
  return (
    <section
      aria-label={label}
      // A strip that scrolls must be reachable with the keyboard.
      tabIndex={phone ? 0 : undefined}
      className={cx(
        'grid grid-flow-col gap-2 max-md:-mx-4 max-md:scroll-px-4 max-md:overflow-x-auto max-md:px-4 max-md:[scrollbar-width:none] md:gap-4',
        columns[stats.length],
      )}
    >
      {stats.map(({ value, ...stat }) => (
        <StatCard key={stat.label} {...stat} strip value={formatNumber(value) ?? '—'} loading={loading} />
      ))}
    </section>
  )
}
