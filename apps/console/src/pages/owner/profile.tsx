import { unlimited } from '@keyward/contract'
import { Sparkles } from 'lucide-react'
import { Link } from 'react-router'
import { useAppCount } from '../../features/apps/queries.ts'
import { useOwner } from '../../lib/api/account.ts'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { roleFacts } from '../../lib/format/roles.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { useDialogParam } from '../../lib/navigation/url-state.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { Facts } from '../../ui/facts.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SecurityLink } from '../../ui/security-link.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { Callout, QueryError } from '../../ui/states.tsx'

const ChangeEmailDialog = lazyNamed(
  () => import('../../features/account/change-email-dialog.tsx'),
  'ChangeEmailDialog',
)
const ChangePasswordDialog = lazyNamed(
  () => import('../../features/account/change-password-dialog.tsx'),
  'ChangePasswordDialog',
)

const VendorList = lazyNamed(() => import('../../features/vendors/vendor-list.tsx'), 'VendorList')

const limitText = (value: number | null | undefined) =>
  value === null || value === undefined || value === unlimited ? 'Unlimited' : formatNumber(value)

export function ProfilePage() {
  const profile = useOwner()
  const appCount = useAppCount()
  const dialog = useDialogParam(['change-password', 'change-email'])
  const owner = profile.data
  const premium = owner?.plan === 'premium'
  const config = usePublicConfig()
  const may = useMay()
  const knowsPlan = may(wire.plans.subscription)

  return (
    <div className="grid w-full max-w-4xl gap-6">
      <PageHeader
        title="Profile"
        subtitle={knowsPlan ? 'Your account, plan and limits.' : 'Your account and your role.'}
      />
      {!(owner?.name && owner.email) && (
        <Card>
          <QueryError
            query={profile}
            title="Unable to load profile data"
            description="Please try refreshing the page"
          />
        </Card>
      )}
      {owner?.name && owner.email && (
        <>
          {!premium && may(wire.payments.createOrder) && (
            <Callout
              tone="accent"
              icon={<Sparkles aria-hidden />}
              title="Upgrade to Premium"
              action={
                <Button asChild variant="primary">
                  <Link to={paths.subscription}>Upgrade Now</Link>
                </Button>
              }
            >
              Unlimited apps, licenses and resellers.
            </Callout>
          )}
          {knowsPlan && (
            <section
              aria-label="Quick stats"
              className="grid grid-cols-2 gap-3 min-[420px]:auto-cols-fr min-[420px]:grid-flow-col md:gap-4"
            >
              <StatCard label="Total Apps" value={appCount ?? owner.appCount} to={paths.dashboard} />
              {(owner.paymentStatus === 'paid' || config?.payments !== 'off') && (
                <StatCard
                  label="Payment Status"
                  value={owner.paymentStatus === 'paid' ? 'Paid' : 'Unpaid'}
                  detail={premium && owner.paymentStatus === 'unpaid' && 'No payment needed'}
                />
              )}
              <StatCard label="Premium Access" value={premium ? 'Yes' : 'No'} />
            </section>
          )}
          <div className="grid items-start gap-4 md:grid-cols-2">
            <Card>
              <CardHeader title="Account" />
              <CardBody className="grid gap-4">
                <Facts
                  items={[
                    { label: 'Name', value: owner.name },
                    { label: 'Email', value: <span className="break-all">{owner.email}</span> },
                    {
                      label: 'Role',
                      value: (
                        <Badge tone="accent">
                          {owner.role === 'owner' ? 'App Owner' : roleFacts[owner.role].label}
                        </Badge>
                      ),
                    },
                    { label: 'Member Since', value: <DateText value={owner.createdAt} /> },
                    {
                      label: 'Status',
                      value: <StateBadge tone="success" label="Active" />,
                    },
                  ]}
                />
                <div className="flex flex-wrap gap-2">
                  <Button onClick={() => dialog.open('change-password')}>Change Password</Button>
                  <Button onClick={() => dialog.open('change-email')}>Update Email</Button>
                </div>
              </CardBody>
            </Card>
            {knowsPlan && (
              <Card>
                <CardHeader title="Plan & Limits" />
                <CardBody>
                  <Facts
                    items={[
                      {
                        label: 'Plan',
                        value: (
                          <Badge tone={premium ? 'accent' : 'neutral'}>{premium ? 'Premium' : 'Free'}</Badge>
                        ),
                      },
                      { label: 'Max Apps', value: limitText(owner.maxApps) },
                      { label: 'Max Licenses/App', value: limitText(owner.maxLicensesPerApp) },
                      { label: 'Max Resellers', value: limitText(owner.maxResellers) },
                    ]}
                  />
                </CardBody>
              </Card>
            )}
            <Deferred fallback={<Skeleton className="h-44 rounded-xl md:col-span-2" />}>
              <div className="md:col-span-2">
                <VendorList user={owner} />
              </div>
            </Deferred>
          </div>
          <SecurityLink to={paths.security} />
          <DialogSlot>
            {dialog.kind === 'change-password' && (
              <ChangePasswordDialog email={owner.email} onClose={dialog.close} />
            )}
            {dialog.kind === 'change-email' && (
              <ChangeEmailDialog email={owner.email} onClose={dialog.close} />
            )}
          </DialogSlot>
        </>
      )}
    </div>
  )
}
