import { type License, unlimited } from '@keyward/contract'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { serverNow } from '../../lib/api/server-time.ts'
import { durationText, noDateText } from '../../lib/format/ending.ts'
import { amountOf } from '../../lib/format/words.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { appPath, userPath } from '../../lib/navigation/paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { Facts } from '../../ui/facts.tsx'
import type { TimelineEvent } from '../../ui/timeline.tsx'
import { ResellerLink } from './reseller-link.tsx'

const KeyMail = lazyNamed(() => import('./key-mail.tsx'), 'KeyMail')

const linkClass = 'rounded-sm text-accent-text underline-offset-4 hover:underline'
const none = <span className="font-normal text-fg-muted">—</span>

export interface LicenseFactsProps {
  license: License
  /** Whose license it is; left out for those who may not read customers. */
  customer: ReactNode
  /** The button that says why it is this end. */
  why: ReactNode
}

export function LicenseFacts({ license, customer, why }: LicenseFactsProps) {
  const { usedBy, seats, devices, features, reseller, note, banReason } = license
  return (
    <Card>
      <CardHeader title="License" />
      <CardBody>
        <CopyField label="License key" value={license.key} />
        <div className="mt-3">
          <Facts
            items={[
              {
                label: 'App',
                value: (
                  <Link to={appPath(license.app._id)} className={linkClass}>
                    {license.app.name}
                  </Link>
                ),
              },
              {
                label: 'Used by',
                value: usedBy ? (
                  <Link to={userPath(usedBy._id)} className={linkClass}>
                    <bdi>{usedBy.name ?? 'Unnamed'}</bdi>
                  </Link>
                ) : license.used ? (
                  'Used'
                ) : (
                  none
                ),
              },
              ...(customer ? [{ label: 'Customer', value: customer }] : []),
              ...(license.customer
                ? [
                    {
                      label: 'Mail with the key',
                      value: (
                        <Deferred fallback={none}>
                          <KeyMail license={license} />
                        </Deferred>
                      ),
                    },
                  ]
                : []),
              {
                label: 'Expires',
                value: (
                  <>
                    <DateText value={license.expiresAt} none={noDateText(license)} />
                    {license.inGrace && (
                      <Badge tone="warning" className="ml-2">
                        In grace period
                      </Badge>
                    )}
                    {why}
                  </>
                ),
              },
              { label: 'Type', value: license.type?.name ?? none },
              ...(license.duration ? [{ label: 'Duration', value: durationText(license.duration) }] : []),
              ...(license.graceDays > 0
                ? [{ label: 'Grace period', value: amountOf(license.graceDays, 'day') }]
                : []),
              seats === null
                ? { label: 'Devices', value: devices === unlimited ? 'Any number' : devices }
                : { label: 'Seats at the same time', value: seats },
              {
                label: 'Features',
                value:
                  features.length > 0 ? (
                    <span className="flex flex-wrap justify-end gap-1.5">
                      {features.map((feature) => (
                        <Badge key={feature}>{feature}</Badge>
                      ))}
                    </span>
                  ) : (
                    none
                  ),
              },
              ...(license.updatesUntil
                ? [{ label: 'Updates until', value: <DateText value={license.updatesUntil} /> }]
                : []),
              { label: 'Note', value: note || none },
              ...(reseller ? [{ label: 'Reseller', value: <ResellerLink reseller={reseller} /> }] : []),
              ...(banReason ? [{ label: 'Reason of the ban', value: banReason }] : []),
            ]}
          />
        </div>
        <CopyField label="Reference for shops" value={license.buyReference} />
      </CardBody>
    </Card>
  )
}

/** What is known of a license's past and future. */
export function licenseTimes(license: License): TimelineEvent[] {
  const { createdAt, expiresAt, reseller, updatesUntil } = license
  const ended = expiresAt !== null && Date.parse(expiresAt) <= serverNow()
  return [
    {
      at: createdAt,
      recordedAs: 'licenses.created',
      text: reseller ? `Generated in the quota of ${reseller.email}` : 'Generated',
    },
    ...firstUse(license),
    { at: expiresAt, text: ended ? 'Expired' : 'Expires' },
    { at: updatesUntil, text: 'Covers versions released until here' },
  ]
}

const firstUse = ({ used, usedAt, usedBy }: License): TimelineEvent[] => [
  {
    at: usedAt,
    recordedAs: 'end_user.registered',
    text:
      used && usedBy?.name ? (
        <>
          First used by <bdi>{usedBy.name}</bdi>
        </>
      ) : (
        'First used'
      ),
  },
]
