import type { ReactNode } from 'react'
import { useIsPhone } from '../lib/browser/use-media.ts'
import { StatCard } from './card.tsx'
import { cx } from './cx.ts'

export interface StatRowProps {
  /** The accessible name of the row. */
  label?: string
  stats: { label: string; value: number | undefined; note?: ReactNode; icon?: ReactNode }[]
  loading?: boolean
}

/** Three or four counts side by side; on phones one strip that scrolls sideways. */
export function StatRow({ label = 'Figures', stats, loading = false }: StatRowProps) {
  const phone = useIsPhone()
  return (
    <section
      aria-label={label}
      // A strip that scrolls must be reachable with the keyboard.
      tabIndex={phone ? 0 : undefined}
      className={cx(
        'grid grid-flow-col gap-2 max-md:-mx-4 max-md:scroll-px-4 max-md:auto-cols-[10.75rem] max-md:overflow-x-auto max-md:px-4 max-md:[scrollbar-width:none] md:gap-4',
        stats.length === 3
          ? 'md:grid-flow-row md:grid-cols-3'
          : 'md:grid-flow-row md:grid-cols-2 lg:grid-cols-4',
      )}
    >
      {stats.map(({ value, ...stat }) => (
        <StatCard key={stat.label} {...stat} strip value={value?.toLocaleString() ?? '—'} loading={loading} />
      ))}
    </section>
  )
}
