import type { ShopOrder } from '@keyward/contract'
import { customers } from '@keyward/contract/customers'
import { Mail } from 'lucide-react'
import { z } from 'zod'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { ExactInput } from '../../ui/input.tsx'
import { useAddressOrder } from './queries.ts'

const schema = z.object({ email: customers.create.body!.shape.email })

/** Enters the buyer's address of an order that has none, which mails its keys. */
export function AddressForm({ order }: { order: ShopOrder }) {
  const address = useAddressOrder()
  const form = useSchemaForm(schema, { defaultValues: { email: '' } })
  const submit = useSubmit({ form }, (values) => address.mutateAsync({ id: order._id, ...values }))
  return (
    <form noValidate onSubmit={submit} aria-label="Address">
      <Field label="Buyer’s email" error={form.formState.errors.email?.message}>
        <ExactInput type="email" {...form.register('email')} />
      </Field>
      <Button type="submit" loading={address.isPending}>
        <Mail aria-hidden />
        Save and Mail Keys
      </Button>
    </form>
  )
}
