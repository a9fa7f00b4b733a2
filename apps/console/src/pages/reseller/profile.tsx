import { RefreshCw } from 'lucide-react'
import { useRefresh } from '../../features/portal/queries.ts'
import { useReseller } from '../../features/portal/session.ts'
import { formatDate } from '../../lib/format/dates.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { percentOf } from '../../lib/format/percent.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Progress } from '../../ui/progress.tsx'
import { SecurityLink } from '../../ui/security-link.tsx'
import { StatRow } from '../../ui/stat-row.tsx'

const count = (value: number) => formatNumber(value)

export function ResellerProfilePage() {
  const reseller = useReseller().data
  const refresh = useRefresh({
    done: 'Profile data refreshed successfully',
    failed: 'Failed to refresh profile data',
  })
  // The guard of the portal waits for the profile.
  if (!reseller) return null
  const { created_licenses: total, allowed_license_keys: allowed, remaining_licenses: remaining } = reseller
  const percent = allowed > 0 ? Math.min(100, percentOf(total, allowed)) : 100
  return (
    <div className="grid w-full max-w-4xl gap-6">
      <PageHeader
        title="Profile"
        subtitle="Your account and your license quota."
        actions={
          <Button onClick={() => refresh.mutate()} loading={refresh.isPending}>
            {!refresh.isPending && <RefreshCw />}
            Refresh
          </Button>
        }
      />
      <StatRow
        label="Quick stats"
        stats={[
          { label: 'Licenses Generated', value: total },
          { label: 'License Limit', value: allowed },
          { label: 'Remaining', value: remaining },
        ]}
      />
      <div className="grid items-start gap-4 md:grid-cols-2">
        <Card>
          <CardHeader title="Account" description="Only your administrator can change these." />
          <CardBody className="grid gap-4">
            <Field label="Email">
              <Input value={reseller.email} title={reseller.email} readOnly />
            </Field>
            <Field label="Associated App">
              <Input value={reseller.app_id.name} title={reseller.app_id.name} readOnly />
            </Field>
            <Field label="Account Created">
              <Input value={formatDate(reseller.createdAt)} readOnly />
            </Field>
          </CardBody>
        </Card>
        <div className="grid gap-4">
          <Card>
            <CardHeader title="License Usage" />
            <CardBody className="grid gap-2">
              <div className="flex items-baseline justify-between gap-3">
                <span className="tabular-nums">
                  {count(total)} of {count(allowed)} licenses
                </span>
                <span className="text-fg-muted tabular-nums">{percent}%</span>
              </div>
              <Progress value={total} max={allowed} label="License usage" className="h-2" />
            </CardBody>
          </Card>
          <Card>
            <CardHeader title="Status" />
            <CardBody className="grid gap-4">
              <Facts
                items={[
                  {
                    label: 'Account',
                    value: (
                      <StateBadge
                        tone={reseller.active ? 'success' : 'warning'}
                        label={reseller.active ? 'Active' : 'Suspended'}
                      />
                    ),
                  },
                  { label: 'Role', value: <Badge tone="accent">{reseller.role}</Badge> },
                ]}
              />
              <CopyField label="Reseller ID" value={reseller._id} />
            </CardBody>
          </Card>
        </div>
      </div>
      <SecurityLink to={paths.resellerSecurity} />
    </div>
  )
}
