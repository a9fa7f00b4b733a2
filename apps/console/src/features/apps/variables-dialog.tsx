import type { App, DataOf } from '@keyward/contract'
import { variables as endpoints } from '@keyward/contract/variables'
import type { Control } from 'react-hook-form'
import { useFreshData } from '../../lib/form/fresh-data.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { type NamedValues, NamedValuesFields } from '../../ui/named-values.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { useAppVariables, useSetAppVariables } from './variables-queries.ts'

export interface AppVariablesDialogProps {
  app: App
  onClose: () => void
}

/** Edits what every program of an app receives. */
export function AppVariablesDialog({ app, onClose }: AppVariablesDialogProps) {
  const variables = useAppVariables(app._id)
  const stored = useFreshData(variables)
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title={`Variables of ${app.name}`}
      description="Your programs receive these texts, signed, with their next call: addresses, limits, messages."
    >
      {!stored && variables.isError && (
        <DialogBody>
          <QueryError boxed query={variables} title="Failed to load the variables" />
        </DialogBody>
      )}
      {!stored && !variables.isError && (
        <DialogBody>
          <Skeleton className="h-40" />
        </DialogBody>
      )}
      {stored && <VariablesForm app={app} stored={stored} onClose={onClose} />}
    </Dialog>
  )
}

const schema = endpoints.setApp.body!.pick({ variables: true })

interface VariablesFormProps extends AppVariablesDialogProps {
  stored: DataOf<typeof endpoints.app>
}

function VariablesForm({ app, stored, onClose }: VariablesFormProps) {
  const save = useSetAppVariables(app._id)
  const form = useSchemaForm(schema, { defaultValues: { variables: stored.variables } })
  const submit = form.handleSubmit(({ variables }) =>
    save.mutate(
      { variables, seen: stored.revision },
      { onSuccess: onClose, onError: (error) => showFieldErrors(form, error) },
    ),
  )
  return (
    <DialogForm onSubmit={submit}>
      <DialogBody>
        <p className="text-fg-muted">
          Variables that are available offline are part of the lease that a program keeps on the customer's
          disk: signed, so that nobody can change them, but not secret. Together they can have 8 KiB. A new
          value arrives with the next lease.
        </p>
        <NamedValuesFields
          control={form.control as unknown as Control<NamedValues>}
          flags={{ public: 'Send before anyone signs in', offline: 'Available offline' }}
          addLabel="Add Variable"
          empty="No variables yet. Signed-in users receive all of them, other programs only those that you make public."
        />
      </DialogBody>
      <FormFooter submitLabel="Save Variables" busy={save.isPending} onCancel={onClose} />
    </DialogForm>
  )
}
