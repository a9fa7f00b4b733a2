import type { BodyInputOf, Client, ClientVariable, DataOf } from '@keyward/contract'
import { variables as endpoints } from '@keyward/contract/variables'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Control } from 'react-hook-form'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { useFreshData } from '../../lib/form/fresh-data.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { endUserName } from '../../lib/format/end-user-name.ts'
import { IconButton } from '../../ui/button.tsx'
import { Dialog, DialogBody } from '../../ui/dialog.tsx'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { FieldsForm } from '../../ui/form-dialog.tsx'
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
  const [busy, setBusy] = useState(false)
  return (
    <Dialog
      onClose={onClose}
      busy={busy}
      size="lg"
      title={
        <>
          Variables of <bdi>{endUserName(user)}</bdi>
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
      {stored && <VariablesForm user={user} stored={stored} onBusy={setBusy} onClose={onClose} />}
    </Dialog>
  )
}

const schema = endpoints.setClient.body!.pick({ variables: true })

interface VariablesFormProps {
  user: Client
  stored: DataOf<typeof endpoints.client>
  onBusy: (busy: boolean) => void
  onClose: () => void
}

function VariablesForm({ user, stored, onBusy, onClose }: VariablesFormProps) {
  const client = useQueryClient()
  const save = useWrite({
    mutationFn: (body: BodyInputOf<typeof endpoints.setClient>) =>
      call(wire.variables.setClient, { params: { id: user._id }, body }),
    onSuccess: (saved) => {
      client.setQueryData(listKey(user._id), saved)
      toast.success('Variables saved')
    },
    onError: (error) => toastFailure(error, 'Failed to save the variables'),
  })
  const [written, setWritten] = useState(stored.variables.filter(({ program }) => program))
  const own = stored.variables.filter(({ program }) => !program)
  const form = useSchemaForm(schema, { defaultValues: { variables: own } })
  const submit = useSubmit({ form, onBusy, onDone: onClose }, ({ variables }) =>
    save.mutateAsync({
      variables: [...variables.map((one) => ({ ...one, program: false })), ...written],
      seen: stored.revision,
    }),
  )
  return (
    <FieldsForm onSubmit={submit} submitLabel="Save Variables" busy={save.isPending} onCancel={onClose}>
      <NamedValuesFields
        control={form.control as unknown as Control<NamedValues>}
        addLabel="Add Variable"
        empty="This end user has no variables of its own."
      />
      {written.length > 0 && (
        <WrittenByPrograms
          variables={written}
          onRemove={(name) => setWritten((kept) => kept.filter((one) => one.name !== name))}
        />
      )}
    </FieldsForm>
  )
}

interface WrittenByProgramsProps {
  variables: readonly ClientVariable[]
  onRemove: (name: string) => void
}

/** What programs wrote: anyone who has the program can, so it is not among what the vendor says. */
function WrittenByPrograms({ variables, onRemove }: WrittenByProgramsProps) {
  return (
    <section className="grid gap-2" aria-labelledby="written-by-programs">
      <h3 id="written-by-programs" className="font-medium">
        Written by programs
      </h3>
      <p className="text-fg-muted">
        Your programs stored these with the library of another system. They are not signed as yours.
      </p>
      {variables.map(({ name, value }) => (
        <div key={name} className="flex items-start gap-2 rounded-lg border p-3">
          <dl className="grid min-w-0 flex-1 gap-1 font-mono">
            <dt className="font-medium break-words">{name}</dt>
            <dd className="break-words whitespace-pre-wrap">{value}</dd>
          </dl>
          <IconButton label={`Remove ${name}`} onClick={() => onRemove(name)}>
            <Trash2 />
          </IconButton>
        </div>
      ))}
    </section>
  )
}
