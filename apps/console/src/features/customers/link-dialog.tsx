import { customers } from '@keyward/contract/customers'
import { z } from 'zod'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { ExactInput } from '../../ui/input.tsx'
import { type Linked, useLinkCustomer } from './queries.ts'

const blank = z.literal('').transform(() => null)
const schema = z.object({ customer: z.union([blank, customers.create.body!.shape.email]) })

export interface LinkDialogProps {
  /** The address of the present customer; empty for none. */
  email: string
  linked: Linked
  onClose: () => void
}

/** Says by an address whose license or end user it is. */
export function LinkDialog({ email, linked, onClose }: LinkDialogProps) {
  const link = useLinkCustomer(linked)
  const form = useSchemaForm(schema, { defaultValues: { customer: email } })
  const submit = useSubmit({ form, onDone: onClose }, ({ customer }) => link.mutateAsync(customer))
  return (
    <FormDialog
      onClose={onClose}
      busy={link.isPending}
      title="Customer"
      description={
        'license' in linked ? 'Say who bought this license.' : 'Say which customer this end user is.'
      }
      onSubmit={submit}
      submitLabel="Save"
    >
      <Field
        label="Email of the customer"
        optional
        hint="A new address adds a customer. Leave it empty for none."
        error={form.formState.errors.customer?.message}
      >
        <ExactInput inputMode="email" {...form.register('customer')} />
      </Field>
    </FormDialog>
  )
}
