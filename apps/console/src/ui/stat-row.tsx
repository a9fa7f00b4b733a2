import type { ReactNode } from 'react'
import { StatCard } from './card.tsx'

export interface StatRowProps {
  /** The accessible name of the row. */
  label?: string
  stats: { label: string; value: number | undefined; note?: ReactNode; icon?: ReactNode }[]
  loading?: boolean
}

/** Three or four counts side by side; two on phones, where the first of three has its own line. */
export function StatRow({ label, stats, loading = false }: StatRowProps) {
  return (
    <section
      aria-label={label}
      className={
        stats.length === 3
          ? 'grid grid-cols-2 gap-3 max-md:[&>:first-child]:col-span-2 md:grid-cols-3 md:gap-4'
          : 'grid grid-cols-2 gap-3 md:gap-4 lg:grid-cols-4'
      }
    >
      {stats.map(({ value, ...stat }) => (
        <StatCard
          key={stat.label}
          {...stat}
          value={value?.toLocaleString('en-US') ?? '—'}
          loading={loading}
        />
      ))}
    </section>
  )
}
