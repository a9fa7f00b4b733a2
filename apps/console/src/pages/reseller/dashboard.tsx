import { ArrowRight, KeyRound, UserRound } from 'lucide-react'
import { Link } from 'react-router'
import { usePortalLicenses } from '../../features/portal/queries.ts'
import { RecentActivity } from '../../features/portal/recent-activity.tsx'
import { useReseller } from '../../features/portal/session.ts'
import { PortalSummary } from '../../features/portal/stat-cards.tsx'
import { paths } from '../../lib/navigation/paths.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

const recentItems = 5

const quickActions = [
  {
    to: paths.resellerLicenses,
    icon: KeyRound,
    title: 'Manage Licenses',
    text: 'Generate and copy keys, and see who uses them',
  },
  { to: paths.resellerProfile, icon: UserRound, title: 'View Profile', text: 'Your account and quota' },
]

export function ResellerDashboardPage() {
  const reseller = useReseller().data
  const licenses = usePortalLicenses({ limit: recentItems })
  return (
    <div className="grid gap-6">
      <PageHeader
        title="Dashboard"
        subtitle={reseller && `Your licenses for ${reseller.app_id.name} at a glance.`}
      />
      <PortalSummary stats={licenses.data?.stats} loading={!licenses.data && !licenses.isError} />
      <div className="grid items-start gap-4 lg:grid-cols-[2fr_1fr]">
        <Card>
          <CardHeader title="Recent Activity" description="Your five latest licenses" />
          <RecentActivity
            query={licenses}
            expected={Math.min(recentItems, reseller?.created_licenses ?? recentItems)}
          />
        </Card>
        <Card>
          <CardHeader title="Quick Actions" />
          <ul className="grid gap-2 px-5 pb-5">
            {quickActions.map(({ to, icon: Icon, title, text }) => (
              <li key={to}>
                <Link
                  to={to}
                  className="flex items-center gap-3 rounded-lg border px-3.5 py-3 transition-colors hover:bg-hover [&_svg]:size-4 [&_svg]:shrink-0"
                >
                  <Icon aria-hidden className="text-accent-text" />
                  <span className="min-w-0 flex-1">
                    <span className="block font-medium">{title}</span>
                    <span className="block text-[0.8125rem] text-fg-muted">{text}</span>
                  </span>
                  <ArrowRight aria-hidden className="text-fg-muted" />
                </Link>
              </li>
            ))}
          </ul>
        </Card>
      </div>
    </div>
  )
}
