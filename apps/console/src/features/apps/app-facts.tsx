import { type App, limits } from '@keyward/contract'
import { CircleDashed, KeyRound, Store, Users } from 'lucide-react'
import { Link } from 'react-router'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { amountOf } from '../../lib/format/words.ts'
import { appTabPath } from '../../lib/navigation/app-tabs.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'
import { StatRow } from '../../ui/stat-row.tsx'
import { useAppDialog } from './app-dialogs.tsx'
import { useAppStats } from './queries.ts'

const onOff = (on: boolean) => (on ? 'On' : 'Off')

export function AppFigures({ app }: { app: App }) {
  const { data, isPending } = useAppStats(app._id)
  const stats = data?.stats
  const may = useMay()
  const listOf = (list: string, status?: string) => listPath(list, { app: app._id, status })
  const left = may(wire.plans.subscription) ? stats?.licensesLeft : undefined
  return (
    <StatRow
      loading={isPending}
      stats={[
        {
          label: 'Licenses',
          value: stats?.totalLicenses,
          note: typeof left === 'number' ? `${left} left on your plan` : 'In this app',
          icon: <KeyRound />,
          to: listOf(paths.licenses),
        },
        {
          label: 'Unused',
          value: stats?.unusedLicenses,
          note: 'Not registered yet',
          icon: <CircleDashed />,
          to: listOf(paths.licenses, 'unused'),
        },
        {
          label: 'End users',
          value: stats?.totalClients,
          note: 'Registered',
          icon: <Users />,
          to: listOf(paths.users),
        },
        {
          label: 'Resellers',
          value: stats?.totalResellers,
          note: 'Sell licenses',
          icon: <Store />,
          to: may(wire.resellers.list) ? listOf(paths.resellers) : undefined,
        },
      ]}
    />
  )
}

export function AppFacts({ app }: { app: App }) {
  const dialog = useAppDialog()
  const { settings } = app
  const listOf = (path: string) => `${path}?${new URLSearchParams({ app: app._id })}`
  return (
    <Card>
      <CardHeader
        title="App"
        actions={
          <May call={wire.apps.update}>
            <Button size="sm" onClick={() => dialog.open('edit-app', app._id)}>
              Edit
            </Button>
            <Button asChild size="sm">
              <Link to={appTabPath(app._id, 'settings')}>Settings</Link>
            </Button>
          </May>
        }
      />
      <CardBody className="grid gap-3">
        <Facts
          items={[
            { label: 'Version', value: app.version },
            { label: 'Created', value: <DateText value={app.createdAt} /> },
            { label: 'HWID Lock', value: onOff(settings.hwidLock) },
            { label: 'Custom license keys', value: onOff(settings.allowCustomLicenseKey) },
            {
              label: 'Devices stay signed in',
              value: settings.rememberDays === 0 ? 'Off' : amountOf(settings.rememberDays, 'day'),
            },
          ]}
        />
        {settings.rememberDays === 0 && dialog.may('edit-app') && (
          <p className="text-[0.8125rem] text-fg-muted">
            A computer that slept for a day has to sign in again. Set Days Signed In in the settings,
            recommended: {limits.rememberDaysDefault}.
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          <Button asChild size="sm">
            <Link to={listOf(paths.licenses)}>Show Licenses</Link>
          </Button>
          <Button asChild size="sm">
            <Link to={listOf(paths.users)}>Show End Users</Link>
          </Button>
          <May call={wire.resellers.list}>
            <Button asChild size="sm">
              <Link to={listOf(paths.resellers)}>Show Resellers</Link>
            </Button>
          </May>
        </div>
      </CardBody>
    </Card>
  )
}
