import type { App, Release } from '@keyward/contract'
import { ChevronDown, CircleOff, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useReleases } from '../../lib/api/releases.ts'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { amountOf } from '../../lib/format/words.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { CoveredRelease } from './covered-release.tsx'
import { useRemoveRelease, useVersionsInUse } from './releases-queries.ts'
import { SafeLink } from './safe-link.tsx'
import { VersionsInUse } from './versions-in-use.tsx'

const ReleaseDialog = lazyNamed(() => import('./release-dialog.tsx'), 'ReleaseDialog')
const ReleaseDetails = lazyNamed(() => import('./release-details.tsx'), 'ReleaseDetails')
const WithdrawDialog = lazyNamed(() => import('./withdraw-dialog.tsx'), 'WithdrawDialog')

type Opened = { form: Release | undefined } | { withdrawn: Release }

/** The released versions of an app. */
export function ReleasesTab({ app }: { app: App }) {
  const releases = useReleases(app._id)
  const inUse = useVersionsInUse(app._id, useMay()(wire.exposure.versions)).data
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  const devicesOf = new Map(inUse?.versions.map(({ version, devices }) => [version, devices]))
  const devices = inUse && [...devicesOf.values()].reduce((sum, count) => sum + count, inUse.unknown)
  return (
    <div className="grid gap-4 md:gap-6">
      <Card aria-label={`Releases of ${app.name}`}>
        <CardHeader
          title={`Releases of ${app.name}`}
          description="A license with an end of updates covers the versions that were released before, and every security fix. It also covers versions that are not listed here."
          actions={
            releases.data && (
              <May call={wire.releases.add}>
                <Button size="sm" onClick={() => setOpened({ form: undefined })}>
                  <Plus />
                  Add Release
                </Button>
              </May>
            )
          }
        />
        <CardBody className="grid gap-4">
          {releases.isError && <QueryError boxed query={releases} title="Failed to load the releases" />}
          {releases.isPending && <Skeleton className="h-32" />}
          {releases.data?.length === 0 && (
            <p className="text-fg-muted">No releases yet: every license covers every version.</p>
          )}
          {releases.data && releases.data.length > 0 && (
            <>
              <CoveredRelease releases={releases.data} />
              <ul aria-label="Releases" className="min-w-0 divide-y rounded-lg border">
                {releases.data.map((release) => (
                  <ReleaseRow
                    key={release._id}
                    release={release}
                    share={devices ? (devicesOf.get(release.version) ?? 0) / devices : undefined}
                    devices={devicesOf.get(release.version) ?? 0}
                    onEdit={() => setOpened({ form: release })}
                    onWithdraw={() => setOpened({ withdrawn: release })}
                  />
                ))}
              </ul>
            </>
          )}
        </CardBody>
        {opened && releases.data && (
          <Deferred onFail={close}>
            {'form' in opened ? (
              <ReleaseDialog app={app} releases={releases.data} release={opened.form} onClose={close} />
            ) : (
              <WithdrawDialog app={app} release={opened.withdrawn} onClose={close} />
            )}
          </Deferred>
        )}
      </Card>
      <May call={wire.exposure.versions}>
        <VersionsInUse app={app} />
      </May>
    </div>
  )
}

interface ReleaseRowProps {
  release: Release
  devices: number
  /** Of the devices whose version is known or unknown; undefined without any. */
  share: number | undefined
  onEdit: () => void
  onWithdraw: () => void
}

function ReleaseRow({ release, devices, share, onEdit, onWithdraw }: ReleaseRowProps) {
  const remove = useRemoveRelease()
  const may = useMay()
  const [isOpen, setOpen] = useState(false)
  const { version, channel, security, withdrawnAt, releasedAt, link, notes, artifacts } = release
  const hasDetails = notes !== null || security !== null || artifacts.length > 0
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 p-3">
      <span className="font-medium font-mono">{version}</span>
      {channel !== 'stable' && <Badge>{channel}</Badge>}
      {security && <Badge tone="danger">Security: {security.severity}</Badge>}
      {withdrawnAt !== null && <Badge tone="warning">Withdrawn</Badge>}
      <span className="text-[0.8125rem] text-fg-muted">
        Released <DateText value={releasedAt} />
      </span>
      {share !== undefined && (
        <span className="text-[0.8125rem] text-fg-muted" title="By the last sign-in or check of each device">
          {amountOf(devices, 'device')} ({Math.round(share * 100)}%)
        </span>
      )}
      {link && <SafeLink link={link} />}
      <span className="ml-auto flex items-center gap-1">
        {hasDetails && (
          <Button
            size="sm"
            variant="ghost"
            aria-expanded={isOpen}
            aria-label={`Details of ${version}`}
            onClick={() => setOpen(!isOpen)}
          >
            Details
            <ChevronDown aria-hidden className={isOpen ? 'rotate-180' : ''} />
          </Button>
        )}
        {may(wire.releases.remove) && (
          <Menu label={`Actions for ${version}`}>
            <May call={wire.releases.update}>
              <MenuItem icon={<Pencil />} onSelect={onEdit}>
                Edit Release
              </MenuItem>
            </May>
            {withdrawnAt === null && (
              <May call={wire.releases.withdraw}>
                <MenuItem icon={<CircleOff />} onSelect={onWithdraw}>
                  Withdraw Release
                </MenuItem>
              </May>
            )}
            <MenuItem
              icon={<Trash2 />}
              tone="danger"
              disabled={remove.isPending}
              onSelect={() => remove.mutate(release._id)}
            >
              Remove Release
            </MenuItem>
          </Menu>
        )}
      </span>
      {isOpen && (
        <Deferred fallback={<Skeleton className="h-20 basis-full" />}>
          <ReleaseDetails release={release} />
        </Deferred>
      )}
    </li>
  )
}
