import { type App, limits } from '@keyward/contract'
import { MonitorSmartphone } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { percentOf } from '../../lib/format/percent.ts'
import { amountOf } from '../../lib/format/words.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'
import { useVersionsInUse } from './releases-queries.ts'

const shownFirst = 8

/** Which versions of an app run on how many of its devices. */
export function VersionsInUse({ app }: { app: App }) {
  const inUse = useVersionsInUse(app._id, true)
  const [showsAll, setShowsAll] = useState(false)
  const { versions = [], unknown = 0, unseen = 0 } = inUse.data ?? {}
  const total = versions.reduce((sum, { devices }) => sum + devices, unknown)
  const shown = showsAll ? versions : versions.slice(0, shownFirst)
  return (
    <Card aria-label="Versions in Use">
      <CardHeader
        title="Versions in Use"
        description={`Devices that were seen within ${limits.unseenDays} days, by the version of their last sign-in or check`}
      />
      <CardBody className="grid gap-4">
        {inUse.isError && !inUse.data && (
          <QueryError query={inUse} title="Failed to load the versions in use" />
        )}
        {inUse.isPending && <Skeleton className="h-40" />}
        {inUse.data && total === 0 && (
          <EmptyState
            className="py-8"
            icon={<MonitorSmartphone />}
            title="No devices yet"
            description="Versions appear here once a program signs in with a hardware id."
          />
        )}
        {total > 0 && (
          <ul aria-label="Versions" className="grid gap-3">
            {shown.map(({ version, devices, lastSeenAt }) => (
              <VersionShare key={version} name={version} devices={devices} total={total}>
                seen last <DateText value={lastSeenAt} />
              </VersionShare>
            ))}
            {unknown > 0 && (
              <VersionShare name="Unknown" devices={unknown} total={total}>
                no program has named its version yet
              </VersionShare>
            )}
          </ul>
        )}
        {versions.length > shownFirst && !showsAll && (
          <Button size="sm" className="justify-self-start" onClick={() => setShowsAll(true)}>
            Show {amountOf(versions.length - shownFirst, 'more version')}
          </Button>
        )}
        {unseen > 0 && (
          <p className="text-[0.8125rem] text-fg-muted">
            {amountOf(unseen, 'device')} not seen for {limits.unseenDays} days.
          </p>
        )}
      </CardBody>
    </Card>
  )
}

interface VersionShareProps {
  name: string
  devices: number
  total: number
  children: ReactNode
}

function VersionShare({ name, devices, total, children }: VersionShareProps) {
  return (
    <li className="grid gap-1">
      <span className="flex flex-wrap items-baseline gap-x-3">
        <span className="wrap-anywhere font-medium font-mono">
          <bdi>{name}</bdi>
        </span>
        <span className="text-[0.8125rem] text-fg-muted">{children}</span>
        <span className="ml-auto tabular-nums">
          {amountOf(devices, 'device')} <span className="text-fg-muted">({percentOf(devices, total)}%)</span>
        </span>
      </span>
      <span aria-hidden className="h-1.5 overflow-hidden rounded-full bg-hover">
        <span
          className="block h-full rounded-full bg-accent-text"
          style={{ width: `${(100 * devices) / total}%` }}
        />
      </span>
    </li>
  )
}
