import { offlineActivations } from '@keyward/contract/offline-activations'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { ExactInput } from '../../ui/input.tsx'
import { useDeactivateOffline } from './queries.ts'

const schema = offlineActivations.deactivate.body!

interface Props {
  app: { _id: string; name: string }
  onClose: () => void
}

/** Frees the device of a machine whose program shows that it has forgotten its file. */
export function DeactivateDialog({ app, onClose }: Props) {
  const deactivate = useDeactivateOffline(app._id)
  const form = useSchemaForm(schema, { defaultValues: { code: '' } })
  const onFailure = (error: unknown) => toastFailure(error, 'Failed to deactivate the machine')
  const submit = useSubmit({ form, onDone: onClose, onFailure }, (body) => deactivate.mutateAsync(body))
  return (
    <FormDialog
      onClose={onClose}
      busy={deactivate.isPending}
      title="Deactivate with Code"
      description={`The program shows a code after ${app.name} was deactivated on the machine. It shows that the program has forgotten its file, and frees the device.`}
      onSubmit={submit}
      submitLabel="Free Device"
    >
      <Field
        label="Code"
        hint="Upper and lower case, blanks and dashes do not matter."
        error={form.formState.errors.code?.message}
      >
        <ExactInput {...form.register('code')} placeholder="KWD1-…" className="font-mono" />
      </Field>
    </FormDialog>
  )
}
