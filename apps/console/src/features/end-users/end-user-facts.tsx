import { type AddedRights, type Client, unlimited } from '@keyward/contract'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { May } from '../../lib/api/rights.tsx'
import { serverNow } from '../../lib/api/server-time.ts'
import { wire } from '../../lib/api/wire.ts'
import { amountOf } from '../../lib/format/words.ts'
import { appPath, paths } from '../../lib/navigation/paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { DateText, TimeText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'
import type { TimelineEvent } from '../../ui/timeline.tsx'
import type { GrantedUser } from './queries.ts'

const linkClass = 'rounded-sm text-accent-text underline-offset-4 hover:underline'
const none = <span className="font-normal text-fg-muted">—</span>

interface Props {
  user: GrantedUser
  /** Who the end user is; left out for those who may not read customers. */
  customer: ReactNode
  /** The button that says why it is this end. */
  why: ReactNode
  onVariables: () => void
}

export function EndUserFacts({ user, customer, why, onVariables }: Props) {
  const { email, licenseKey, testLicense, hwid, banReason } = user
  return (
    <Card>
      <CardHeader title="End User" />
      <CardBody className="grid gap-3">
        {licenseKey && <CopyField label="License key" value={licenseKey} />}
        {hwid && <CopyField label="Hardware ID" value={hwid} />}
        <Facts
          items={[
            {
              label: 'App',
              value: (
                <Link to={appPath(user.app._id)} className={linkClass}>
                  {user.app.name}
                </Link>
              ),
            },
            {
              label: 'License',
              value: licenseKey ? (
                <>
                  <Link
                    to={`${paths.licenses}?${new URLSearchParams({ search: licenseKey })}`}
                    className={linkClass}
                  >
                    Show in Licenses
                  </Link>
                  {testLicense && <Badge className="ml-2">Test</Badge>}
                </>
              ) : (
                'None'
              ),
            },
            { label: 'Email', value: email ?? none },
            ...(customer ? [{ label: 'Customer', value: customer }] : []),
            {
              label: 'Expires',
              value: (
                <>
                  <DateText value={user.expiresAt} none="Never" />
                  {user.inGrace && (
                    <Badge tone="warning" className="ml-2">
                      In grace period
                    </Badge>
                  )}
                  {why}
                </>
              ),
            },
            ...addedKeys(user),
            ...(user.graceDays > 0
              ? [{ label: 'Grace period', value: amountOf(user.graceDays, 'day') }]
              : []),
            {
              label: 'Last sign-in',
              value: user.lastLoginAt ? <TimeText value={user.lastLoginAt} /> : 'Never',
            },
            {
              label: user.ban ? 'Ban takes effect by' : 'Can run offline until',
              value: user.offline ? (
                <DateText value={user.offline.until} none="Never: a file has no end" />
              ) : user.ban ? (
                'Now'
              ) : (
                none
              ),
            },
            ...(banReason ? [{ label: 'Reason of the ban', value: banReason }] : []),
          ]}
        />
        <div className="flex flex-wrap gap-2">
          <Button asChild size="sm">
            <Link to={`${paths.activity}?${new URLSearchParams({ client: user._id })}`}>Show Activity</Link>
          </Button>
          <May call={wire.variables.setClient}>
            <Button size="sm" onClick={onVariables}>
              Edit Variables
            </Button>
          </May>
        </div>
      </CardBody>
    </Card>
  )
}

/** What each added key allows, and until when. */
const addedKeys = ({ rights = [], grants = [] }: GrantedUser) =>
  rights.map(({ license, features, until, ...places }) => ({
    key: license,
    label: `Added ${grants.find(({ source }) => source._id === license)?.source.name ?? ''}…`,
    value: (
      <>
        {[...features, placesText(places)].join(', ')}
        <span className="block font-normal text-fg-muted">
          {until === null ? 'as long as the end user has access' : 'until '}
          {until && <DateText value={until} />}
        </span>
      </>
    ),
  }))

function placesText({ devices, seats }: Pick<AddedRights, 'devices' | 'seats'>): string {
  if (seats !== null) return amountOf(seats, 'seat')
  return devices === unlimited ? 'any number of devices' : amountOf(devices, 'device')
}

/** What is known of an end user's past and future. */
export function endUserTimes({ createdAt, expiresAt }: Client): TimelineEvent[] {
  const ended = expiresAt !== null && Date.parse(expiresAt) <= serverNow()
  return [
    { at: createdAt, text: 'Joined' },
    { at: expiresAt, text: ended ? 'Expired' : 'Expires' },
  ]
}
