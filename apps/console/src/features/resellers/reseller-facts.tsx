import type { Reseller } from '@keyward/contract'
import { Link } from 'react-router'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { appPath, listPath, paths } from '../../lib/navigation/paths.ts'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Progress } from '../../ui/progress.tsx'

const linkClass = 'rounded-sm text-accent-text underline-offset-4 hover:underline'
const lists = [
  { label: 'Keys', text: 'Licenses of this reseller', path: paths.licenses, list: wire.licenses.list },
  { label: 'Customers', text: 'End users of these licenses', path: paths.users, list: wire.clients.list },
]

/** The quota of a reseller, and what else is known of it. */
export function ResellerFacts({ reseller }: { reseller: Reseller }) {
  const { email, app_id: app, created_licenses: used, allowed_license_keys: limit } = reseller
  const may = useMay()
  const readsApp = may(wire.apps.get)
  return (
    <Card>
      <CardHeader title="Quota" />
      <CardBody>
        <dl className="grid grid-cols-3 divide-x rounded-lg border bg-sunken text-center">
          <Figure label="Used" value={used} />
          <Figure label="Left" value={reseller.remaining_licenses} />
          <Figure label="Limit" value={limit} />
        </dl>
        <Progress className="mt-3" value={used} max={limit} label={`Licenses used by ${email}`} />
        <div className="mt-4">
          <CopyField label="Email" value={email} />
        </div>
        <div className="mt-3">
          <Facts
            items={[
              {
                label: 'App',
                value: readsApp ? (
                  <Link to={appPath(app._id)} className={linkClass}>
                    {app.name}
                  </Link>
                ) : (
                  app.name
                ),
              },
              ...lists
                .filter(({ list }) => may(list))
                .map(({ label, text, path }) => ({
                  label,
                  value: (
                    <Link to={listPath(path, { reseller: reseller._id })} className={linkClass}>
                      {text}
                    </Link>
                  ),
                })),
              { label: 'Joined', value: <DateText value={reseller.createdAt} /> },
            ]}
          />
        </div>
      </CardBody>
    </Card>
  )
}

function Figure({ label, value }: { label: string; value: number }) {
  return (
    <div className="grid justify-items-center gap-0.5 px-2 py-2.5">
      <dt className="order-last text-[0.8125rem] text-fg-muted">{label}</dt>
      <dd className="font-semibold text-lg tabular-nums">{formatNumber(value)}</dd>
    </div>
  )
}
