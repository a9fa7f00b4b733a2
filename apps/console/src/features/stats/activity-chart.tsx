import { limits } from '@keyward/contract'
import { Activity } from 'lucide-react'
import { Link } from 'react-router'
import { serverNow } from '../../lib/api/server-time.ts'
import { addDuration, toDayInput } from '../../lib/format/dates.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'
import { useActivity } from './queries.ts'

/** The server counts by UTC days. */
const dayName = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** The first of seven local days, today included. */
const firstDayOfWeek = () => toDayInput(addDuration(serverNow(), -6, 'days'))

/** What programs did, day by day: those of all apps, or those of one with its refusals and the end users `online`. */
export function ActivityChart({ app, online }: { app?: string; online?: number }) {
  const activity = useActivity(app)
  const days = activity.data
  const counts = app ? 'Activations, sign-ins and refusals' : 'Activations and sign-ins'
  const series = [
    { name: 'Activations', values: days?.map((day) => day.activations) ?? [] },
    { name: 'Sign-ins', values: days?.map((day) => day.signIns) ?? [] },
    ...(app ? [{ name: 'Refusals', values: days?.map((day) => day.refusals) ?? [] }] : []),
  ]
  const quiet = days && series.every(({ values }) => values.every((value) => value === 0))
  return (
    <Card aria-label="Activity">
      <CardHeader
        title="Activity"
        description={`${app ? counts : 'License activations and sign-ins'} of the last 30 days, by day in UTC`}
        actions={
          <>
            {!app && (
              <Button asChild size="sm">
                <Link to={listPath(paths.activity, { code: 'activations', from: firstDayOfWeek() })}>
                  Activations, last 7 days
                </Link>
              </Button>
            )}
            <Button asChild size="sm">
              <Link to={listPath(paths.activity, { app })}>All Events</Link>
            </Button>
          </>
        }
      />
      <CardBody>
        {online !== undefined && <OnlineNow count={online} />}
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
            caption={`${counts} by day`}
            labelHeading="Day (UTC)"
            labels={days.map((day) => dayName.format(new Date(day.date)))}
            series={series}
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
      <StateBadge
        tone={count > 0 ? 'success' : 'neutral'}
        label={count === 1 ? '1 end user online' : `${formatNumber(count)} end users online`}
      />{' '}
      signed in, with a program that called within {limits.onlineHours} hours
    </p>
  )
}
