import type { App, Shop } from '@keyward/contract'
import { useState } from 'react'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FieldsForm } from '../../ui/form-dialog.tsx'
import { ExactInput, Input } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { ConnectSteps } from './connect-steps.tsx'
import { kindFacts, kindOptions } from './kinds.ts'
import { ProductFields } from './product-fields.tsx'
import { useCreateShop } from './queries.ts'
import { emptyRow, generateSecret, newShopSchema, toProducts } from './shop-form.ts'

interface Created {
  shop: Shop
  /** Only the vendor's own shop gets its secret from here. */
  secret: string | undefined
}

/** Sets a shop up in three steps: its secret and products, its hook, and the first order. */
export function NewShopDialog({ app, onClose }: { app: App; onClose: () => void }) {
  const [created, setCreated] = useState<Created>()
  const [busy, setBusy] = useState(false)
  return created ? (
    <ConnectSteps {...created} onClose={onClose} />
  ) : (
    <Dialog
      size="lg"
      title="Add Shop"
      description={`Step 1 of 3. Orders create licenses of ${app.name}.`}
      busy={busy}
      onClose={onClose}
    >
      <ShopForm app={app} busy={busy} onBusy={setBusy} onCreated={setCreated} onCancel={onClose} />
    </Dialog>
  )
}

interface ShopFormProps {
  app: App
  busy: boolean
  onBusy: (busy: boolean) => void
  onCreated: (created: Created) => void
  onCancel: () => void
}

function ShopForm({ app, busy, onBusy, onCreated, onCancel }: ShopFormProps) {
  const create = useCreateShop(app._id)
  const [generated] = useState(generateSecret)
  const form = useSchemaForm(newShopSchema, {
    defaultValues: { kind: 'custom', name: '', secret: generated, apiKey: '', products: [emptyRow] },
  })
  const { errors } = form.formState
  const { kind, secret, products } = form.watch()
  const facts = kindFacts(kind)
  const change = { shouldDirty: true, shouldValidate: form.formState.isSubmitted }

  const submit = useSubmit({ form, onBusy }, async (values) => {
    const shop = await create.mutateAsync({
      kind: values.kind,
      name: values.name,
      secret: values.secret,
      ...(facts.apiKey && values.apiKey && { apiKey: values.apiKey }),
      products: toProducts(values.products),
    })
    onCreated({ shop, secret: values.kind === 'custom' ? values.secret : undefined })
  })
  const choose = (next: string) => {
    form.setValue('kind', next as typeof kind, change)
    form.setValue('secret', next === 'custom' ? generated : '')
    form.setValue('apiKey', '')
    form.clearErrors()
  }
  return (
    <FieldsForm onSubmit={submit} autoComplete="off" submitLabel="Continue" busy={busy} onCancel={onCancel}>
      <div className="grid gap-4 md:grid-cols-2">
        <Field
          label="Kind"
          hint={
            <a href={paths.shopDocs} target="_blank" rel="noopener" className="text-accent-text underline">
              How to connect it
            </a>
          }
        >
          <Select value={kind} options={kindOptions} onChange={choose} />
        </Field>
        <Field label="Name" hint="As your orders name it" error={errors.name?.message}>
          <Input {...form.register('name')} maxLength={60} placeholder={facts.label} />
        </Field>
      </div>
      <Field label={facts.secret.label} hint={facts.secret.hint} error={errors.secret?.message}>
        <ExactInput
          {...form.register('secret')}
          className="font-mono"
          onFocus={(event) => event.target.select()}
        />
      </Field>
      {kind === 'custom' && secret && (
        <div className="-mt-3">
          <CopyButton text={secret} label="Copy Secret">
            Copy Secret
          </CopyButton>
        </div>
      )}
      {facts.apiKey && (
        <Field
          label={`${facts.apiKey.label}${facts.apiKey.isOptional ? ' (optional)' : ''}`}
          hint={facts.apiKey.hint}
          error={errors.apiKey?.message}
        >
          <ExactInput {...form.register('apiKey')} className="font-mono" />
        </Field>
      )}
      <ProductFields
        app={app._id}
        hint={facts.product}
        value={products}
        onChange={(rows) => form.setValue('products', rows, change)}
        errors={errors.products}
      />
    </FieldsForm>
  )
}
