import { type App, type Compatibility, compatibilityProtocols } from '@keyward/contract'
import { useId } from 'react'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { amountOf } from '../../lib/format/words.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Input } from '../../ui/input.tsx'
import { Callout } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { compatibilitySchema, protocolFacts } from './compatibility-form.ts'
import { useUpdateCompatibility } from './queries.ts'

interface CompatibilityDialogProps {
  app: App
  saved: Compatibility
  onClose: () => void
}

export function CompatibilityDialog({ app, saved, onClose }: CompatibilityDialogProps) {
  const update = useUpdateCompatibility(app._id)
  const isNew = saved.name === null
  const form = useSchemaForm(compatibilitySchema, {
    defaultValues: {
      enabled: isNew || saved.enabled,
      name: saved.name ?? '',
      ownerId: saved.ownerId ?? '',
      secret: saved.secret ?? '',
      protocols: saved.protocols,
    },
  })
  const { errors } = form.formState
  const { enabled, protocols, secret } = form.watch()
  const change = { shouldDirty: true, shouldValidate: form.formState.isSubmitted }
  const submit = useSubmit({ form, onDone: onClose }, async (values) => {
    const { name, ownerId, secret: typed } = values
    await update.mutateAsync({
      enabled: values.enabled,
      protocols: values.protocols,
      ...(name && { name }),
      ...(ownerId && { ownerId }),
      ...(typed && { secret: typed }),
    })
  })
  const unset = isNew ? 'Empty: Keyward makes one' : 'Empty: stays as it is'
  return (
    <FormDialog
      size="lg"
      title="Programs built for KeyAuth"
      description="Copy name, owner ID and secret from KeyAuth, and programs keep them. Leave them empty, and Keyward makes them."
      busy={update.isPending}
      onClose={onClose}
      onSubmit={submit}
      autoComplete="off"
      submitLabel="Save"
    >
      <Switch
        label="Answer these programs"
        description="Weaker than Keyward’s own protocol: turn it off once your customers have a version with our SDK."
        checked={enabled}
        onChange={(checked) => form.setValue('enabled', checked, change)}
      />
      {saved.enabled && !enabled && saved.programs > 0 && (
        <Callout tone="warning" title="They stop working at once">
          In the last 30 days {amountOf(saved.programs, 'program')} used it.
        </Callout>
      )}
      <div className="grid gap-4 md:grid-cols-2">
        <Field label="Name" hint={isNew ? `Empty: ${app.name}` : unset} error={errors.name?.message}>
          <Input {...form.register('name')} maxLength={100} />
        </Field>
        <Field label="Owner ID" hint={unset} error={errors.ownerId?.message}>
          <Input {...form.register('ownerId')} className="font-mono" spellCheck={false} />
        </Field>
      </div>
      <Field
        label="Secret"
        hint={isNew || secret === saved.secret ? unset : 'Programs with another secret stop working'}
        error={errors.secret?.message}
      >
        <Input {...form.register('secret')} className="font-mono" spellCheck={false} />
      </Field>
      <Protocols
        value={protocols}
        onChange={(next) => form.setValue('protocols', next, change)}
        error={errors.protocols?.message}
      />
    </FormDialog>
  )
}

type Chosen = (typeof compatibilityProtocols)[number][]

interface ProtocolsProps {
  value: Chosen
  onChange: (value: Chosen) => void
  error: string | undefined
}

function Protocols({ value, onChange, error }: ProtocolsProps) {
  const id = useId()
  return (
    <fieldset className="grid gap-2" aria-describedby={error && `${id}-error`}>
      <legend className="mb-1.5 font-medium">Protocols</legend>
      {compatibilityProtocols.map((protocol) => (
        <label
          key={protocol}
          htmlFor={`${id}-${protocol}`}
          className="flex cursor-pointer items-start gap-2.5 py-0.5"
        >
          <input
            type="checkbox"
            id={`${id}-${protocol}`}
            checked={value.includes(protocol)}
            onChange={({ target }) =>
              onChange(
                compatibilityProtocols.filter((one) =>
                  one === protocol ? target.checked : value.includes(one),
                ),
              )
            }
            className="mt-0.5 size-4 shrink-0 accent-accent"
          />
          <span>
            {protocol} <span className="text-fg-muted">{protocolFacts[protocol]}</span>
          </span>
        </label>
      ))}
      {error && (
        <p id={`${id}-error`} role="alert" className="text-[0.8125rem] text-danger-text">
          {error}
        </p>
      )}
    </fieldset>
  )
}
