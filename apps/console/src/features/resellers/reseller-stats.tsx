import { KeyRound, Scale, Store } from 'lucide-react'
import { StatCard } from '../../ui/card.tsx'
import type { ResellerSummary } from './summary.ts'

export interface ResellerStatsProps {
  summary: ResellerSummary | undefined
  loading: boolean
}

export function ResellerStats({ summary, loading }: ResellerStatsProps) {
  return (
    <section
      aria-label="Summary"
      className="grid grid-cols-2 gap-3 max-md:[&>:first-child]:col-span-2 md:grid-cols-3 md:gap-4"
    >
      <StatCard
        label="Total Resellers"
        value={count(summary?.total)}
        note="In your network"
        icon={<Store aria-hidden />}
        loading={loading}
      />
      <StatCard
        label="Licenses Created"
        value={count(summary?.licenses)}
        note="By all resellers"
        icon={<KeyRound aria-hidden />}
        loading={loading}
      />
      <StatCard
        label="Average"
        value={count(summary?.average)}
        note="Licenses per reseller"
        icon={<Scale aria-hidden />}
        loading={loading}
      />
    </section>
  )
}

const count = (value: number | undefined) => value?.toLocaleString('en-US') ?? '—'
