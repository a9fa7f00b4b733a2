import type { Shop } from '@keyward/contract'
import { useState } from 'react'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { ExactInput, Input } from '../../ui/input.tsx'
import { kindFacts } from './kinds.ts'
import { ProductFields } from './product-fields.tsx'
import { useUpdateShop } from './queries.ts'
import { editShopSchema, secretsSchema, toProducts, toRows } from './shop-form.ts'

interface ShopDialogProps {
  shop: Shop
  onClose: () => void
}

export function EditShopDialog({ shop, onClose }: ShopDialogProps) {
  const update = useUpdateShop('Shop saved')
  const [defaultValues] = useState(() => ({ name: shop.name, products: toRows(shop) }))
  const form = useSchemaForm(editShopSchema, { defaultValues })
  const { errors } = form.formState
  const change = { shouldDirty: true, shouldValidate: form.formState.isSubmitted }
  const submit = useSubmit({ form, onDone: onClose }, ({ name, products }) =>
    update.mutateAsync({ id: shop._id, name, products: toProducts(products) }),
  )
  return (
    <FormDialog
      size="lg"
      title={`Edit ${shop.name}`}
      description="Orders that wait for a product are tried again when you save."
      busy={update.isPending}
      onClose={onClose}
      onSubmit={submit}
      autoComplete="off"
      submitLabel="Save"
    >
      <Field label="Name" error={errors.name?.message}>
        <Input {...form.register('name')} maxLength={60} />
      </Field>
      <ProductFields
        app={shop.app._id}
        hint={kindFacts(shop.kind).product}
        value={form.watch().products}
        onChange={(rows) => form.setValue('products', rows, change)}
        errors={errors.products}
      />
    </FormDialog>
  )
}

export function ReplaceSecretDialog({ shop, onClose }: ShopDialogProps) {
  const update = useUpdateShop('Secret replaced')
  const form = useSchemaForm(secretsSchema, { defaultValues: { secret: '', apiKey: '' } })
  const { errors } = form.formState
  const facts = kindFacts(shop.kind)
  const submit = useSubmit({ form, onDone: onClose }, ({ secret, apiKey }) =>
    update.mutateAsync({ id: shop._id, ...(secret && { secret }), ...(apiKey && { apiKey }) }),
  )
  return (
    <FormDialog
      title={`Replace the secret of ${shop.name}`}
      description="Events that are signed with the present secret are refused from then on, and the shop sends them again."
      busy={update.isPending}
      onClose={onClose}
      onSubmit={submit}
      autoComplete="off"
      submitLabel="Replace"
    >
      <Field
        label={`New ${facts.secret.label.toLowerCase()}`}
        hint={facts.apiKey && 'Leave empty what stays'}
        error={errors.secret?.message}
      >
        <ExactInput {...form.register('secret')} className="font-mono" />
      </Field>
      {facts.apiKey && (
        <Field
          label={`New ${facts.apiKey.label.toLowerCase()}`}
          hint={facts.apiKey.hint}
          error={errors.apiKey?.message}
        >
          <ExactInput {...form.register('apiKey')} className="font-mono" />
        </Field>
      )}
    </FormDialog>
  )
}
