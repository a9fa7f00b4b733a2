import type { Customer } from '@keyward/contract'
import { customers } from '@keyward/contract/customers'
import { useNavigate } from 'react-router'
import { z } from 'zod'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { customerPath } from '../../lib/navigation/paths.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { ExactInput, Input } from '../../ui/input.tsx'
import { useCreateCustomer, useEditCustomer } from './queries.ts'

const { email, name, note } = customers.create.body!.shape
const blank = z.literal('').transform(() => null)
const schema = z.object({
  email,
  name: z.union([blank, name.unwrap().unwrap()]),
  note: z.union([blank, note.unwrap().unwrap()]),
})

type Values = z.output<typeof schema>

export function CreateCustomerDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateCustomer()
  const navigate = useNavigate()
  return (
    <CustomerForm
      title="Add Customer"
      description="A person you sell to. Licenses and end users can also name one by its address, which adds it."
      submitLabel="Add Customer"
      busy={create.isPending}
      onSave={async (values) => {
        const { _id } = await create.mutateAsync(values)
        void navigate(customerPath(_id))
      }}
      onClose={onClose}
    />
  )
}

export function EditCustomerDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const edit = useEditCustomer()
  const mayMove = useMay()(wire.customers.create)
  return (
    <CustomerForm
      title="Edit Customer"
      description={customer.email}
      customer={customer}
      fixedEmail={!mayMove}
      submitLabel="Save Customer"
      busy={edit.isPending}
      onSave={async ({ email: address, ...details }) => {
        const body = address === customer.email ? details : { ...details, email: address }
        await edit.mutateAsync({ id: customer._id, body })
        onClose()
      }}
      onClose={onClose}
    />
  )
}

interface CustomerFormProps {
  title: string
  description: string
  customer?: Customer
  /** Members with some apps change no address. */
  fixedEmail?: boolean
  submitLabel: string
  busy: boolean
  onSave: (values: Values) => Promise<void>
  onClose: () => void
}

function CustomerForm(props: CustomerFormProps) {
  const { title, description, customer, fixedEmail = false, submitLabel, busy, onSave, onClose } = props
  const form = useSchemaForm(schema, {
    defaultValues: {
      email: customer?.email ?? '',
      name: customer?.name ?? '',
      note: customer?.note ?? '',
    },
  })
  const { errors } = form.formState
  const submit = useSubmit({ form }, (values) => onSave(values))
  return (
    <FormDialog
      onClose={onClose}
      busy={busy}
      title={title}
      description={description}
      onSubmit={submit}
      submitLabel={submitLabel}
    >
      {!fixedEmail && (
        <Field label="Email" error={errors.email?.message}>
          <ExactInput type="email" {...form.register('email')} />
        </Field>
      )}
      <Field label="Name" optional error={errors.name?.message}>
        <Input maxLength={100} autoComplete="off" {...form.register('name')} />
      </Field>
      <Field label="Note" optional hint="Visible only to you" error={errors.note?.message}>
        <Input maxLength={1000} autoComplete="off" {...form.register('note')} />
      </Field>
    </FormDialog>
  )
}
