import { type App, limits } from '@keyward/contract'
import { Activity } from 'lucide-react'
import { Link } from 'react-router'
import { formatNumber } from '../../lib/format/numbers.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'
import { useAppActivity } from './queries.ts'

/** The server counts by UTC days. */
const dayName = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** What the programs of one app did, day by day. */
export function AppActivity({ app, online }: { app: App; online: number }) {
  const activity = useAppActivity(app._id)
  const days = activity.data
  const quiet = days?.every((day) => day.activations + day.signIns + day.refusals === 0)
  return (
    <Card aria-label="Activity">
      <CardHeader
        title="Activity"
        description="Activations, sign-ins and refusals of the last 30 days, by day in UTC"
        actions={
          <Button asChild size="sm">
            <Link to={`${paths.activity}?${new URLSearchParams({ app: app._id })}`}>All Events</Link>
          </Button>
        }
      />
      <CardBody>
        <OnlineNow count={online} />
        {activity.isError && !days && <QueryError query={activity} title="Failed to load the activity" />}
        {activity.isPending && <Skeleton className="h-56" />}
        {quiet && (
          <EmptyState
            className="py-8"
            icon={<Activity />}
            title="No activity yet"
            description="Activations and sign-ins appear here once a program runs with one of your licenses."
          />
        )}
        {days && !quiet && (
          <LineChart
            caption="Activations, sign-ins and refusals by day"
            labelHeading="Day (UTC)"
            labels={days.map((day) => dayName.format(new Date(day.date)))}
            series={[
              { name: 'Activations', values: days.map((day) => day.activations) },
              { name: 'Sign-ins', values: days.map((day) => day.signIns) },
              { name: 'Refusals', values: days.map((day) => day.refusals) },
            ]}
          />
        )}
      </CardBody>
    </Card>
  )
}

/** Programs that run on a lease may not call for days, so the figure says what it counts. */
function OnlineNow({ count }: { count: number }) {
  return (
    <p className="mb-4 text-fg-muted text-sm">
      <Badge tone={count > 0 ? 'success' : 'neutral'} dot>
        {count === 1 ? '1 end user online' : `${formatNumber(count)} end users online`}
      </Badge>{' '}
      signed in, with a program that called within {limits.onlineHours} hours
    </p>
  )
}
