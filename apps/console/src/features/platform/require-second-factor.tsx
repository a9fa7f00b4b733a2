import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { usePlatformSettings, useUpdatePlatformSettings } from './queries.ts'

/** The owner's rule for all members. */
export function RequireSecondFactor() {
  const settings = usePlatformSettings()
  const update = useUpdatePlatformSettings()
  return (
    <Card>
      <CardHeader title="Members" description="Applies to everyone who works for you." />
      {settings.isError && !settings.data ? (
        <QueryError query={settings} title="Failed to load settings" />
      ) : (
        <CardBody>
          {settings.data ? (
            <Switch
              label="Require a second factor of members"
              description="A member without one sees only the page where one is set up."
              checked={settings.data.requireSecondFactor}
              onChange={(requireSecondFactor) => update.mutate({ requireSecondFactor })}
            />
          ) : (
            <Skeleton className="h-11" />
          )}
        </CardBody>
      )}
    </Card>
  )
}
