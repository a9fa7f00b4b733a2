import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { usePlatformSettings, useUpdatePlatformSettings } from './queries.ts'

export function PlatformSwitches() {
  const settings = usePlatformSettings()
  const update = useUpdatePlatformSettings()
  return (
    <Card>
      <CardHeader title="Applications" description="These switches hold for all of your applications." />
      {settings.isError && !settings.data ? (
        <ErrorState
          title="Failed to load settings"
          description={settings.error.message}
          onRetry={() => settings.refetch()}
          retrying={settings.isFetching}
        />
      ) : (
        <CardBody className="grid gap-5">
          {settings.data ? (
            <>
              <Switch
                label="Pause Applications"
                description="While this is on, no program of yours lets anybody in."
                checked={settings.data.pauseApplications}
                onChange={(pauseApplications) => update.mutate({ pauseApplications })}
              />
              <Switch
                label="HWID Lock"
                description="End users are bound to the device of their first sign-in. An app can switch its own lock off."
                checked={settings.data.hwidLock}
                onChange={(hwidLock) => update.mutate({ hwidLock })}
              />
            </>
          ) : (
            <>
              <Skeleton className="h-11" />
              <Skeleton className="h-11" />
            </>
          )}
        </CardBody>
      )}
    </Card>
  )
}
