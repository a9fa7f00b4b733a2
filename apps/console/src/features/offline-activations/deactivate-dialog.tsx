import { offlineActivations } from '@keyward/contract/offline-activations'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { Field } from '../../ui/field.tsx'
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
  const submit = form.handleSubmit((body) =>
    deactivate.mutate(body, {
      onSuccess: onClose,
      onError: (error) => {
        if (!showFieldErrors(form, error)) toastFailure(error, 'Failed to deactivate the machine')
      },
    }),
  )
  return (
    <Dialog
      onClose={onClose}
      busy={deactivate.isPending}
      title="Deactivate with Code"
      description={`The program shows a code after ${app.name} was deactivated on the machine. It shows that the program has forgotten its file, and frees the device.`}
    >
      <DialogForm onSubmit={submit}>
        <DialogBody>
          <Field
            label="Code"
            hint="Upper and lower case, blanks and dashes do not matter."
            error={form.formState.errors.code?.message}
          >
            <ExactInput {...form.register('code')} placeholder="KWD1-…" className="font-mono" />
          </Field>
        </DialogBody>
        <FormFooter submitLabel="Free Device" busy={deactivate.isPending} onCancel={onClose} />
      </DialogForm>
    </Dialog>
  )
}
