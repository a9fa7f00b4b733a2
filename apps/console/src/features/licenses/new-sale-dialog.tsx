import type { App, License } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Controller } from 'react-hook-form'
import { toAppOptions, useApp, useApps, useFindApps } from '../../lib/api/apps.ts'
import { useAttention } from '../../lib/api/attention.ts'
import { call } from '../../lib/api/call.ts'
import { useLicenseTypes } from '../../lib/api/license-types.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { useRequest } from '../../lib/form/use-request.ts'
import { typeSummary } from '../../lib/format/license-type.ts'
import { cx } from '../../ui/cx.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FieldsForm } from '../../ui/form-dialog.tsx'
import { ExactInput, NumberInput } from '../../ui/input.tsx'
import { NoteField } from '../../ui/note-field.tsx'
import { Select } from '../../ui/select.tsx'
import { Switch } from '../../ui/switch.tsx'
import { GeneratedKeys } from './generated-keys.tsx'
import { newSaleSchema, plainTerms, toSale } from './new-sale-form.ts'
import { useGenerateLicenses } from './queries.ts'

export interface NewSaleDialogProps {
  onClose: () => void
  /** The app that is selected at first. */
  appId?: string | undefined
  /** The address of the customer that is known already. */
  customer?: string | undefined
}

/** Sells by hand: who, what, how many, and the keys by mail. */
export function NewSaleDialog({ onClose, appId, customer }: NewSaleDialogProps) {
  const apps = useApps().data
  const [busy, setBusy] = useState(false)
  const [sold, setSold] = useState<License[]>()
  return (
    <Dialog
      onClose={onClose}
      busy={busy}
      title={sold ? 'Sold' : 'New Sale'}
      description={sold ? soldText(sold) : 'Make a key for a customer. It is valid immediately.'}
    >
      {sold ? (
        <GeneratedKeys licenses={sold} onMore={() => setSold(undefined)} onDone={onClose} />
      ) : (
        apps && (
          <SaleForm {...{ apps, appId, customer }} onBusy={setBusy} onCancel={onClose} onSold={setSold} />
        )
      )}
    </Dialog>
  )
}

function soldText(sold: License[]): string {
  const what = sold.length === 1 ? 'The key' : `${sold.length} keys`
  const mail = sold[0]?.mail
  if (mail === 'none' || mail === undefined)
    return `${what}: give ${sold.length === 1 ? 'it' : 'them'} to your customer.`
  return mail === 'waiting'
    ? `The mail with ${what.toLowerCase()} waits. The page of the license says for what.`
    : `The mail with ${what.toLowerCase()} is on its way.`
}

interface SaleFormProps extends Omit<NewSaleDialogProps, 'onClose'> {
  apps: App[]
  onBusy: (busy: boolean) => void
  onCancel: () => void
  onSold: (licenses: License[]) => void
}

function SaleForm({ apps, appId, customer = '', onBusy, onCancel, onSold }: SaleFormProps) {
  const generate = useGenerateLicenses()
  const send = useRequest(toSale)
  const may = useMay()
  const mayLink = may(wire.clients.update)
  const sendsMail = useAttention().data?.sendsMail ?? false
  const only = apps.length === 1 ? apps[0]?._id : undefined
  const form = useSchemaForm(newSaleSchema, {
    defaultValues: { app: appId ?? only ?? '', customer, type: '', amount: 1, note: '', mail: true },
  })
  const { errors } = form.formState
  const [app, typed, mail] = form.watch(['app', 'customer', 'mail'])
  const { app: chosen } = useApp(app || undefined)
  const find = useFindApps()
  const types = useLicenseTypes(chosen?._id)
  const cards =
    types.data && types.data.length > 0
      ? types.data.map((type) => ({ id: type._id, name: type.name, about: typeSummary(type) }))
      : plainTerms.map(({ id, name }) => ({ id, name, about: '' }))
  const canMail = sendsMail && typed.includes('@')

  const submit = useSubmit({ form, onBusy }, async (values) => {
    onSold(await send({ ...values, mail: values.mail && canMail }, generate.mutateAsync))
  })

  return (
    <FieldsForm
      onSubmit={submit}
      submitLabel={mail && canMail ? 'Sell and Mail' : 'Sell'}
      busy={generate.isPending}
      onCancel={onCancel}
    >
      {mayLink && (
        <CustomerField input={form.register('customer')} typed={typed} error={errors.customer?.message} />
      )}
      {apps.length > 1 && (
        <Field label="Application" error={errors.app && 'Choose an application'}>
          <Controller
            control={form.control}
            name="app"
            render={({ field }) => (
              <Select
                value={field.value || undefined}
                onChange={(value) => {
                  field.onChange(value)
                  form.resetField('type')
                }}
                options={toAppOptions(apps, chosen)}
                find={find}
                placeholder="Choose an application"
              />
            )}
          />
        </Field>
      )}
      {chosen && (
        <Controller
          control={form.control}
          name="type"
          render={({ field }) => (
            <TypeCards
              value={field.value}
              onChange={field.onChange}
              cards={cards}
              error={errors.type?.message}
            />
          )}
        />
      )}
      <Field label="How many" error={errors.amount?.message}>
        <NumberInput max={100} {...form.register('amount', { valueAsNumber: true })} />
      </Field>
      <NoteField
        label="Reason"
        example="the number of an invoice"
        form={form.register('note')}
        error={errors.note?.message}
      />
      {mayLink && (
        <Switch
          label="Mail the key"
          description={
            sendsMail
              ? 'In the text of the app, in the customer’s language'
              : 'This server sends no mail. Hand over the key yourself.'
          }
          checked={mail && canMail}
          disabled={!canMail}
          onChange={(on) => form.setValue('mail', on, { shouldDirty: true })}
        />
      )}
    </FieldsForm>
  )
}

/** An address, with those of known customers to choose from. */
function CustomerField({ input, typed, error }: { input: object; typed: string; error: string | undefined }) {
  const list = useId()
  const search = typed.trim()
  const mayRead = useMay()(wire.customers.list)
  const found = useQuery({
    queryKey: [...keys.customers, 'named', search],
    queryFn: async ({ signal }) =>
      (await call(wire.customers.list, { query: { search, limit: 8 }, signal })).customers,
    enabled: mayRead && search.length >= 2,
    staleTime: 10_000,
  }).data
  return (
    <Field
      label="Customer"
      optional
      hint="The email address of a customer. A new one is added."
      error={error}
    >
      <ExactInput inputMode="email" maxLength={254} list={list} {...input} />
      <datalist id={list}>
        {found?.map(({ _id, email, name }) => (
          <option key={_id} value={email}>
            {name ?? ''}
          </option>
        ))}
      </datalist>
    </Field>
  )
}

interface TypeCardsProps {
  value: string
  onChange: (id: string) => void
  cards: { id: string; name: string; about: string }[]
  error: string | undefined
}

function TypeCards({ value, onChange, cards, error }: TypeCardsProps) {
  const name = useId()
  return (
    <fieldset className="grid gap-1.5" aria-describedby={error ? `${name}-error` : undefined}>
      <legend className="mb-1.5 font-medium">What is sold</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {cards.map((card) => (
          <label
            key={card.id}
            className={cx(
              'grid cursor-pointer gap-0.5 rounded-lg border px-3 py-2 transition-colors',
              'has-focus-visible:outline-2 has-focus-visible:outline-accent-text',
              card.id === value ? 'border-accent-text bg-hover' : 'hover:border-line-strong',
            )}
          >
            <span className="flex items-center gap-2 font-medium">
              <input
                type="radio"
                name={name}
                className="accent-accent"
                checked={card.id === value}
                onChange={() => onChange(card.id)}
              />
              <span className="wrap-anywhere">{card.name}</span>
            </span>
            {card.about && <span className="text-[0.8125rem] text-fg-muted">{card.about}</span>}
          </label>
        ))}
      </div>
      <div className="min-h-5 text-[0.8125rem]">
        {error && (
          <p id={`${name}-error`} role="alert" className="text-danger-text">
            {error}
          </p>
        )}
      </div>
    </fieldset>
  )
}
