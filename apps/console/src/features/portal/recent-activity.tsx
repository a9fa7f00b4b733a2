import { CircleCheck, KeyRound } from 'lucide-react'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { Badge } from '../../ui/badge.tsx'
import { DateText } from '../../ui/date.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'
import type { usePortalLicenses } from './queries.ts'

export interface RecentActivityProps {
  query: ReturnType<typeof usePortalLicenses>
  /** How many rows the list has once it is loaded: nothing below it moves then. */
  expected: number
}

export function RecentActivity({ query, expected }: RecentActivityProps) {
  const licenses = query.data?.licenses
  if (query.isError && !licenses) {
    return <QueryError query={query} title="Failed to fetch licenses" />
  }
  if (!licenses && expected > 0) {
    return (
      <div className="divide-y border-t" aria-busy>
        {Array.from({ length: expected }, (_, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: skeletons have nothing else
          <div key={row} className="px-5 py-3">
            <Skeleton className="h-10" />
          </div>
        ))}
      </div>
    )
  }
  if (!licenses || licenses.length === 0) {
    return (
      <EmptyState
        icon={<KeyRound />}
        title="No activity yet"
        description="The licenses that you generate appear here, and their activations."
      />
    )
  }
  return (
    <ul className="divide-y border-t">
      {licenses.map((license) => (
        <li key={license._id} className="flex items-center gap-3 px-5 py-3">
          <span
            className={`grid size-8 shrink-0 place-items-center rounded-full [&_svg]:size-4 ${
              license.used ? 'bg-success-soft text-success-text' : 'bg-accent-soft text-accent-text'
            }`}
          >
            {license.used ? <CircleCheck aria-hidden /> : <KeyRound aria-hidden />}
          </span>
          <div className="min-w-0 flex-1">
            <p className="font-medium">{license.used ? 'License activated' : 'License generated'}</p>
            <KeyText className="text-fg-muted">{keyPrefix(license.key, 12)}</KeyText>
            {license.banned && (
              <Badge tone="danger" className="ml-2">
                Banned
              </Badge>
            )}
          </div>
          <DateText value={license.createdAt} className="text-[0.8125rem] text-fg-muted" />
        </li>
      ))}
    </ul>
  )
}
