import type { User } from '@keyward/contract'
import { useEffect, useRef } from 'react'
import { placeOf } from '../api/account.ts'
import { queryClient } from '../api/query-client.ts'
import { keys } from '../api/query-keys.ts'
import { ownerSession, resellerSession } from '../api/session.ts'
import { base } from '../navigation/base.ts'

/** What was typed when a session expired, until the same form opens again or the user signs out. In memory only. */
const drafts = new Map<string, unknown>()

/** The listener runs when the user signs out: nothing that was typed stays. */
export function onSignedOut(listener: () => void) {
  for (const session of [ownerSession, resellerSession]) {
    session.subscribe(() => {
      if (session.signedOutByUser()) listener()
    })
  }
}

onSignedOut(() => drafts.clear())

const inPortal = () => location.pathname.startsWith(`${base}/reseller/`)

export function accountId(): string | undefined {
  if (inPortal()) return queryClient.getQueryData<{ _id?: string }>([...keys.reseller, 'profile'])?._id
  const user = queryClient.getQueryData<User>(keys.owner)
  return user && placeOf(user)
}

export interface Draftable<Values> {
  /** Distinguishes forms of one page that open with the same values. */
  name?: string | undefined
  /** The values that the form opened with. */
  opened: Values
  read: () => Values
  restore: (values: Values) => void
}

/**
 * Keeps unsaved input when the session expires, and restores it after the same account has signed in again. A draft is
 * restored only into a form that opens with the same values: others would hide a change made in the meantime.
 */
export function useDraft<Values>(form: Draftable<Values>): void {
  const current = useRef(form)
  current.current = form
  useEffect(() => {
    const account = accountId()
    if (account === undefined) return
    const page = location.pathname + location.search
    const keyNow = () => JSON.stringify([account, page, current.current.name, current.current.opened])
    const key = keyNow()
    const draft = drafts.get(key)
    drafts.delete(key)
    if (draft !== undefined) current.current.restore(draft as Values)
    const session = inPortal() ? resellerSession : ownerSession
    return session.subscribe(() => {
      if (session.get() !== null || session.signedOutByUser()) return
      const values = current.current.read()
      if (JSON.stringify(values) !== JSON.stringify(current.current.opened)) drafts.set(keyNow(), values)
    })
  }, [])
}
