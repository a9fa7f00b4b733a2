import type { BodyInputOf, Client, DataOf } from '@keyward/contract'
import { variables as endpoints } from '@keyward/contract/variables'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Control } from 'react-hook-form'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useFreshData } from '../../lib/form/fresh-data.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { type NamedValues, NamedValuesFields } from '../../ui/named-values.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import type { EndUserDialogProps } from './confirm-dialogs.tsx'

const listKey = (id: string) => [...keys.clients, id, 'variables']

/** Edits what the programs of one end user receive besides the app's variables. */
export function EndUserVariablesDialog({ user, onClose }: EndUserDialogProps) {
  const variables = useQuery({
    queryKey: listKey(user._id),
    queryFn: ({ signal }) => call(wire.variables.client, { params: { id: user._id }, signal }),
    refetchOnMount: 'always',
  })
  const stored = useFreshData(variables)
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title={
        <>
          Variables of <bdi>{user.username}</bdi>
        </>
      }
      description={`After a sign-in, programs receive these texts besides the variables of ${user.app.name}. If a name is in both lists, this value wins.`}
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
      {stored && <VariablesForm user={user} stored={stored} onClose={onClose} />}
    </Dialog>
  )
}

const schema = endpoints.setClient.body!.pick({ variables: true })

interface VariablesFormProps {
  user: Client
  stored: DataOf<typeof endpoints.client>
  onClose: () => void
}

function VariablesForm({ user, stored, onClose }: VariablesFormProps) {
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: (body: BodyInputOf<typeof endpoints.setClient>) =>
      call(wire.variables.setClient, { params: { id: user._id }, body }),
    onSuccess: (saved) => {
      client.setQueryData(listKey(user._id), saved)
      toast.success('Variables saved')
    },
    onError: (error) => toastFailure(error, 'Failed to save the variables'),
  })
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
        <NamedValuesFields
          control={form.control as unknown as Control<NamedValues>}
          addLabel="Add Variable"
          empty="This end user has no variables of its own."
        />
      </DialogBody>
      <FormFooter submitLabel="Save Variables" busy={save.isPending} onCancel={onClose} />
    </DialogForm>
  )
}
