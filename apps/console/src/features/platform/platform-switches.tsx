import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { usePlatformSettings, useUpdatePlatformSettings } from './queries.ts'

const PauseDialog = lazyNamed(() => import('./pause-dialog.tsx'), 'PauseDialog')

const onOff = (on: boolean) => (on ? 'On' : 'Off')

export function PlatformSwitches() {
  const settings = usePlatformSettings()
  const update = useUpdatePlatformSettings()
  const dialog = useCallDialog({ 'pause-applications': [wire.settings.update] })
  const mayChange = useMay()(wire.settings.update)
  return (
    <Card>
      <CardHeader title="Applications" description="Applies to all your applications." />
      {settings.isError && !settings.data ? (
        <QueryError query={settings} title="Failed to load settings" />
      ) : (
        <CardBody className="grid gap-5">
          {settings.data && !mayChange ? (
            <Facts
              items={[
                { label: 'Pause Applications', value: onOff(settings.data.pauseApplications) },
                { label: 'HWID Lock', value: onOff(settings.data.hwidLock) },
              ]}
            />
          ) : settings.data ? (
            <>
              <Switch
                label="Pause Applications"
                description="While this is on, none of your programs lets anyone in."
                checked={settings.data.pauseApplications}
                onChange={(on) =>
                  on ? dialog.open('pause-applications') : update.mutate({ pauseApplications: false })
                }
              />
              <Switch
                label="HWID Lock"
                description="Binds each end user to the device of their first sign-in. You can turn the lock off for a single app."
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
      <DialogSlot>
        {dialog.kind === 'pause-applications' && <PauseDialog onClose={dialog.close} />}
      </DialogSlot>
    </Card>
  )
}
