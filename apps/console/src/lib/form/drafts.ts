import { useEffect, useRef } from 'react'
import { queryClient } from '../api/query-client.ts'
import { keys } from '../api/query-keys.ts'
import { ownerSession, resellerSession } from '../api/session.ts'
import { base } from '../navigation/base.ts'

/** What was typed when a session expired, until the same form opens again. In memory only: it can contain passwords. */
const drafts = new Map<string, unknown>()

const inPortal = () => location.pathname.startsWith(`${base}/reseller/`)

function accountId(): string | undefined {
  const key = inPortal() ? [...keys.reseller, 'profile'] : keys.owner
  return queryClient.getQueryData<{ _id?: string }>(key)?._id
}

export interface Draftable<Values> {
  /** The values that the form opened with. */
  opened: Values
  read: () => Values
  restore: (values: Values) => void
}

/**
 * Keeps what was typed when the session expires, and fills it in after the same account has signed in again. A form that
 * opens with other values is another form, or somebody changed its object: it stays as it is.
 */
export function useDraft<Values>(form: Draftable<Values>): void {
  const current = useRef(form)
  current.current = form
  useEffect(() => {
    const account = accountId()
    if (account === undefined) return
    const opened = JSON.stringify(current.current.opened)
    const key = JSON.stringify([account, location.pathname + location.search, opened])
    const draft = drafts.get(key)
    drafts.delete(key)
    if (draft !== undefined) current.current.restore(draft as Values)
    const session = inPortal() ? resellerSession : ownerSession
    return session.subscribe(() => {
      if (session.get() !== null || session.signedOutByUser()) return
      const values = current.current.read()
      if (JSON.stringify(values) !== opened) drafts.set(key, values)
    })
  }, [])
}
