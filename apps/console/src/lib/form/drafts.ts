import { useEffect } from 'react'
import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { queryClient } from '../api/query-client.ts'
import { keys } from '../api/query-keys.ts'
import { ownerSession, resellerSession } from '../api/session.ts'
import { base } from '../navigation/base.ts'

/** What was typed when a session expired, until the same form opens again. In memory only: it can contain passwords. */
const drafts = new Map<string, FieldValues>()

const inPortal = () => location.pathname.startsWith(`${base}/reseller/`)

function accountId(): string | undefined {
  const key = inPortal() ? [...keys.reseller, 'profile'] : keys.owner
  return queryClient.getQueryData<{ _id?: string }>(key)?._id
}

/**
 * Keeps what was typed when the session expires, and fills it in after the same account has signed in again. A form that
 * opens with other values is another form, or somebody changed its object: it stays as it is.
 */
export function useDraft<Input extends FieldValues, Output>(
  form: UseFormReturn<Input, unknown, Output>,
): void {
  useEffect(() => {
    const { formState, getValues, setValue } = form
    const account = accountId()
    if (account === undefined) return
    const defaults = JSON.stringify(formState.defaultValues)
    const key = JSON.stringify([account, location.pathname + location.search, defaults])
    const draft = drafts.get(key)
    drafts.delete(key)
    for (const [name, value] of Object.entries(draft ?? {})) {
      setValue(name as Path<Input>, value, { shouldDirty: true })
    }
    const session = inPortal() ? resellerSession : ownerSession
    return session.subscribe(() => {
      if (session.get() !== null || session.signedOutByUser()) return
      const values = getValues()
      if (JSON.stringify(values) !== defaults) drafts.set(key, values)
    })
  }, [form])
}
