import { type App, limits, type CustomerMailSettings as Settings } from '@keyward/contract'
import { useMay } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { useTextForm } from '../../../lib/form/text-form.ts'
import { appTabPath } from '../../../lib/navigation/app-tabs.ts'
import { Button } from '../../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../../ui/card.tsx'
import { Facts } from '../../../ui/facts.tsx'
import { Field } from '../../../ui/field.tsx'
import { Input } from '../../../ui/input.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { QueryError } from '../../../ui/states.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { useCustomerMailSettings, useSaveDays, useUpdateCustomerMails } from './buyer-mail-queries.ts'

const kinds = [
  {
    kind: 'ended',
    label: 'A License Has Ended',
    description: 'On the day it ends. Ends from before you turn this on are not told.',
  },
  {
    kind: 'updatesEndSoon',
    label: 'Updates End Soon',
    description: `${limits.updatesEndSoonDays} days before the updates of a license end that goes on itself.`,
  },
  {
    kind: 'paymentFailed',
    label: 'A Payment Failed',
    description: 'When your shop reports that a payment of a subscription failed.',
  },
  {
    kind: 'renewed',
    label: 'A License Was Renewed',
    description: 'When an order that came by a license’s own link has renewed it.',
  },
] as const

const before = 'Before a License Ends'
const usualDays = [14, 3]

/** Which mails an app sends to its customers. */
export function CustomerMailSettings({ app }: { app: App }) {
  const query = useCustomerMailSettings(app._id)
  const update = useUpdateCustomerMails(app._id)
  const may = useMay()(wire.customerMails.update)
  const { data } = query
  return (
    <Card aria-label="Mails to Customers">
      <CardHeader
        title="Mails to Customers"
        description="Each goes out once for each license, to its customer. Nobody is told of an end whose subscription goes on by itself."
      />
      {query.isError && !data ? (
        <QueryError query={query} title="Failed to load the mails to customers" />
      ) : (
        <CardBody className="grid gap-5">
          {!data && kinds.map(({ kind }) => <Skeleton key={kind} className="h-11" />)}
          {data && !may && <Facts items={factsOf(data)} />}
          {data && may && (
            <>
              <Switch
                label={before}
                description="So that your customers renew in time. Those who unsubscribed get none."
                checked={data.endsSoonDays.length > 0}
                onChange={(on) => update.mutate({ endsSoonDays: on ? usualDays : [] })}
              />
              {data.endsSoonDays.length > 0 && <Days app={app} days={data.endsSoonDays} />}
              {kinds.map(({ kind, ...texts }) => (
                <Switch
                  key={kind}
                  {...texts}
                  checked={data[kind]}
                  onChange={(on) => update.mutate({ [kind]: on })}
                />
              ))}
            </>
          )}
        </CardBody>
      )}
    </Card>
  )
}

const factsOf = (settings: Settings) => [
  {
    label: before,
    value: settings.endsSoonDays.length > 0 ? `${settings.endsSoonDays.join(', ')} days` : 'Off',
  },
  ...kinds.map(({ kind, label }) => ({ label, value: settings[kind] ? 'On' : 'Off' })),
]

const toText = (days: number[]) => days.join(', ')
const toDays = (text: string) =>
  text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map(Number)

const rules = async () => (typed: { days: string }) => {
  const days = toDays(typed.days)
  const isRight =
    days.length > 0 &&
    days.length <= limits.endsSoonDaysMax &&
    new Set(days).size === days.length &&
    days.every((day) => Number.isInteger(day) && day >= 1 && day <= 90)
  return isRight ? {} : { days: `Up to ${limits.endsSoonDaysMax} different numbers from 1 to 90` }
}

function Days({ app, days }: { app: App; days: number[] }) {
  const save = useSaveDays(app._id)
  const form = useTextForm({
    title: `Mails to Customers of ${app.name}`,
    to: appTabPath(app._id, 'mail'),
    opened: { days: toText(days) },
    rules,
  })
  const props = form.props((typed) =>
    save.mutateAsync(toDays(typed.days)).then((saved) => ({ days: toText(saved.endsSoonDays) })),
  )
  return (
    <form {...props} className="flex items-start gap-3">
      <Field
        label="Days Before the End"
        hint={`At most ${limits.endsSoonDaysMax} numbers from 1 to 90, with commas between them.`}
        error={form.errors.days}
        className="grow"
      >
        <Input {...form.field('days')} inputMode="numeric" autoComplete="off" />
      </Field>
      <Button type="submit" className="mt-6" loading={save.isPending} disabled={!form.isDirty}>
        Save Days
      </Button>
    </form>
  )
}
