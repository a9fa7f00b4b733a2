import { type App, type LicenseType, limits } from '@keyward/contract'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useFieldArray } from 'react-hook-form'
import { useReleases } from '../../../lib/api/releases.ts'
import { useSchemaForm, useSubmit } from '../../../lib/form/schema-form.ts'
import { paths } from '../../../lib/navigation/paths.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Facts } from '../../../ui/facts.tsx'
import { Field } from '../../../ui/field.tsx'
import { FormDialog } from '../../../ui/form-dialog.tsx'
import { FormSelect } from '../../../ui/form-select.tsx'
import { Input, NumberInput } from '../../../ui/input.tsx'
import { Callout } from '../../../ui/states.tsx'
import { useLicenseTypes, useSaveTypeLinks } from './license-types-queries.ts'
import { ShopLinkField } from './shop-link-field.tsx'
import { sampleOf } from './shop-links.ts'
import { toLinksForm, typeLinksSchema } from './type-links-form.ts'

export interface TypeLinksDialogProps {
  app: App
  type: LicenseType
  onClose: () => void
}

/** Where people with a license of a type buy again. */
export function TypeLinksDialog({ app, type, onClose }: TypeLinksDialogProps) {
  const save = useSaveTypeLinks()
  // The list may load the type again while this form shows the values from before.
  const [opened] = useState(type)
  const form = useSchemaForm(typeLinksSchema, { defaultValues: toLinksForm(opened) })
  const { control, register, setValue } = form
  const { errors } = form.formState
  const upgrades = useFieldArray({ control, name: 'upgrades' })
  const values = form.watch()
  const others = useLicenseTypes(app._id).data?.filter(({ _id }) => _id !== type._id) ?? []
  const releases = useReleases(app._id)
  const submit = useSubmit({ form, onDone: onClose }, (links) => save.mutateAsync({ opened, links }))
  const linkOf = (name: 'renewUrl' | 'buyUrl' | `upgrades.${number}.url`, link: string) => ({
    ...register(name),
    link,
    onBetter: (better: string) => setValue(name, better, { shouldDirty: true, shouldValidate: true }),
  })
  const preview = [
    ['Renew', values.renewUrl],
    ['Buy', values.buyUrl],
    ...values.upgrades.map(({ name, url }) => [name, url]),
  ].flatMap(([label = '', link = '']) => {
    const value = sampleOf(link)
    return label === '' || value === undefined ? [] : [{ key: label + value, label, value }]
  })
  return (
    <FormDialog
      onClose={onClose}
      size="lg"
      title={`Links of ${type.name}`}
      description={app.name}
      onSubmit={submit}
      submitLabel="Save Links"
      busy={save.isPending}
    >
      <p className="text-[0.8125rem] text-fg-muted">
        Programs, refusals, mails and the customer’s page show these links, also those of sold licenses.
        Keyward fills in which license it is: for {'{reference}'} in the link, or as reference at its end.{' '}
        <a
          href={`${paths.shopDocs}#links-that-know-the-license`}
          target="_blank"
          rel="noopener"
          className="text-accent-text underline"
        >
          What each shop needs
        </a>
      </p>
      <ShopLinkField
        label="Renew Link"
        optional
        hint="Where customers pay for more time"
        error={errors.renewUrl?.message}
        {...linkOf('renewUrl', values.renewUrl)}
      />
      <ShopLinkField
        label="Buy Link"
        optional
        hint="Where they buy another license of this type"
        error={errors.buyUrl?.message}
        {...linkOf('buyUrl', values.buyUrl)}
      />
      {upgrades.fields.map((field, at) => {
        const wrong = errors.upgrades?.[at]
        const name = values.upgrades[at]?.name || `Upgrade ${at + 1}`
        return (
          <fieldset key={field.id} className="grid gap-3 rounded-lg border p-3">
            <legend className="px-1 font-medium">{name}</legend>
            <div className="flex items-start gap-2">
              <div className="grid flex-1 items-start gap-3 sm:grid-cols-2">
                <Field label="Becomes" error={wrong?.type?.message}>
                  <FormSelect
                    control={control}
                    name={`upgrades.${at}.type`}
                    options={others.map(({ _id, name: label }) => ({ value: _id, label }))}
                  />
                </Field>
                <Field label="Name of the link" error={wrong?.name?.message}>
                  <Input maxLength={60} autoComplete="off" {...register(`upgrades.${at}.name`)} />
                </Field>
              </div>
              <IconButton label={`Remove ${name}`} className="mt-6.5" onClick={() => upgrades.remove(at)}>
                <Trash2 />
              </IconButton>
            </div>
            <ShopLinkField
              label="Upgrade Link"
              error={wrong?.url?.message}
              {...linkOf(`upgrades.${at}.url`, values.upgrades[at]?.url ?? '')}
            />
          </fieldset>
        )
      })}
      {others.length > 0 && upgrades.fields.length < limits.typeUpgradesMax && (
        <Button
          className="justify-self-start"
          onClick={() =>
            upgrades.append({
              type: others[0]?._id ?? '',
              name: `Upgrade to ${others[0]?.name}`,
              url: '',
            })
          }
        >
          <Plus />
          Add an Upgrade
        </Button>
      )}
      <Field
        label="Paid months until it stays for ever"
        optional
        hint="When a subscription with so many paid months ends, its license stays for the versions of the paid time"
        error={errors.fallbackAfterMonths?.message}
      >
        <NumberInput
          max={limits.fallbackMonthsMax}
          {...register('fallbackAfterMonths', { valueAsNumber: true })}
        />
      </Field>
      {Number(values.fallbackAfterMonths) > 0 && releases.data?.length === 0 && (
        <Callout tone="warning">
          {app.name} lists no releases yet, so such a license covers every version. Add the releases of the
          app.
        </Callout>
      )}
      {preview.length > 0 && (
        <section aria-label="What a customer gets" className="rounded-lg border p-3">
          <h3 className="font-medium">What a customer gets</h3>
          <Facts items={preview} />
        </section>
      )}
    </FormDialog>
  )
}
