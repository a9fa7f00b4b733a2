import { Activity } from 'lucide-react'
import { Link } from 'react-router'
import { serverNow } from '../../lib/api/server-time.ts'
import { addDuration, toDayInput } from '../../lib/format/dates.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
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

export function ActivityChart() {
  const activity = useActivity()
  const days = activity.data
  const quiet = days?.every((day) => day.activations === 0 && day.signIns === 0)
  return (
    <Card>
      <CardHeader
        title="Activity"
        description="License activations and sign-ins of the last 30 days, by day in UTC"
        actions={
          <>
            <Button asChild size="sm">
              <Link to={listPath(paths.activity, { code: 'activations', from: firstDayOfWeek() })}>
                Activations, last 7 days
              </Link>
            </Button>
            <Button asChild size="sm">
              <Link to={paths.activity}>All Events</Link>
            </Button>
          </>
        }
      />
      <CardBody>
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
            caption="Activations and sign-ins by day"
            labelHeading="Day (UTC)"
            labels={days.map((day) => dayName.format(new Date(day.date)))}
            series={[
              { name: 'Activations', values: days.map((day) => day.activations) },
              { name: 'Sign-ins', values: days.map((day) => day.signIns) },
            ]}
          />
        )}
      </CardBody>
    </Card>
  )
}
