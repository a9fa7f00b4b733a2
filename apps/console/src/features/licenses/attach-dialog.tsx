import { type License, type ListedClient, limits } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { endUserName, knownName } from '../../lib/format/end-user-name.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { FormSelect } from '../../ui/form-select.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'

const choice = z.object({ user: z.string().min(1, 'Choose an end user') })

/** Gives an unused license to an end user of its app who exists already. */
export function AttachDialog({ license, onClose }: { license: License; onClose: () => void }) {
  const { _id, app, key } = license
  const users = useQuery({
    queryKey: [...keys.clients, 'options', app._id],
    meta: { failure: 'Failed to load the end users' },
    queryFn: async () => {
      const { clients, pagination } = await listUsers(app._id)
      return { options: clients.map(toOption), total: pagination.total }
    },
  })
  const attach = useWrite({
    mutationFn: async (user: string) =>
      (await call(wire.clients.addLicense, { params: { id: user }, body: { license: _id } })).client,
    onSuccess: (user) =>
      toast.success('License Added', {
        description: `${knownName(user) ?? 'The end user'} uses it from now on.`,
      }),
    onError: (error) => toastFailed('Adding Failed', error, 'Failed to add the license.'),
  })
  const form = useSchemaForm(choice, { defaultValues: { user: '' } })
  const submit = useSubmit({ form, onDone: onClose }, ({ user }) => attach.mutateAsync(user))
  const found = users.data
  return (
    <FormDialog
      onClose={onClose}
      busy={attach.isPending}
      title="Add to End User"
      description={`The end user gets the time and the features of ${keyPrefix(key)} as well, as if the program had entered the key.`}
      onSubmit={submit}
      submitLabel="Add License"
      disabled={found === undefined || found.total === 0}
    >
      {found === undefined ? (
        <Skeleton className="h-16" />
      ) : found.total === 0 ? (
        <Callout tone="warning">
          {app.name} has no end users yet. A program registers one with the key.
        </Callout>
      ) : (
        <Field label="End user" hint={`Of ${app.name}`} error={form.formState.errors.user?.message}>
          <FormSelect
            control={form.control}
            name="user"
            options={found.options}
            find={
              found.total > found.options.length
                ? async (text) => (await listUsers(app._id, text)).clients.map(toOption)
                : undefined
            }
            placeholder="Choose an end user"
          />
        </Field>
      )}
    </FormDialog>
  )
}

const listUsers = (app: string, search?: string) =>
  call(wire.clients.list, { query: { app, search, limit: limits.pageSizeDefault } })

function toOption(user: ListedClient) {
  const { _id, username, email } = user
  const name = endUserName(user)
  const others = [email !== name && email, username !== name && keyPrefix(username)]
  return { value: _id, label: [name, ...others].filter(Boolean).join(' · ') }
}
