import type { ReactNode } from 'react'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { kinds, newSignIn } from './kinds.ts'
import { useNotifications, useUpdateNotifications } from './queries.ts'

const onOff = (on: boolean) => (on ? 'On' : 'Off')

export function NotificationSwitches({ vendorName }: { vendorName: string | undefined }) {
  const settings = useNotifications()
  const update = useUpdateNotifications()
  const mayChange = useMay()(wire.notifications.update)
  const { data } = settings
  const card = (title: string, description: string, rows: ReactNode, labels: string[]) => (
    <Card>
      <CardHeader title={title} description={description} />
      {settings.isError && !data ? (
        <QueryError query={settings} title="Failed to load notifications" />
      ) : (
        <CardBody className="grid gap-5">
          {rows ?? labels.map((label) => <Skeleton key={label} className="h-11" />)}
        </CardBody>
      )}
    </Card>
  )
  return (
    <>
      {card(
        'Your account',
        'Mails about your own account.',
        data &&
          (mayChange ? (
            <Switch
              {...newSignIn}
              checked={data.newSignIn}
              onChange={(on) => update.mutate({ newSignIn: on })}
            />
          ) : (
            <Facts items={[{ label: newSignIn.label, value: onOff(data.newSignIn) }]} />
          )),
        [newSignIn.label],
      )}
      {mayChange &&
        card(
          vendorName ?? 'Applications',
          'Mails about the applications that you work on here. Other people choose for themselves.',
          data &&
            kinds.map(({ kind, ...texts }) => (
              <Switch
                key={kind}
                {...texts}
                checked={data[kind]}
                onChange={(on) => update.mutate({ [kind]: on })}
              />
            )),
          kinds.map(({ label }) => label),
        )}
    </>
  )
}
