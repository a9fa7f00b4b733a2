import type { Clock } from '../../core/clock.ts'
import { newPassword, normalizeEmail } from '../../core/ids.ts'
import { operator } from '../../core/networks/caller.ts'
import { Passwords } from '../../core/passwords/passwords.ts'
import { type Database, transactAsOperator, type WriteTransaction } from '../../db/index.ts'
import type { AccountRow } from '../../db/tables.ts'
import * as accounts from '../accounts/accounts.service.ts'
import * as owners from '../owners/owners.service.ts'
import { revokeResets } from '../password-resets/password-resets.access.ts'
import { removeFactors } from '../second-factors/second-factors.access.ts'
import { endSessions } from '../sessions/sessions.service.ts'
import { findLastVendor } from './account.vendors.ts'

type Opened = Pick<Database, 'db'>

const pageSize = 500

/** All vendor accounts by the owner's address, in batches: a server may have a hundred thousand. */
export async function* listOwners({ db }: Opened): AsyncGenerator<owners.ListedOwner[]> {
  for (let after = ''; ; ) {
    const page = await owners.listOwnersAfter(db, after, pageSize)
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    after = last.email_normalized
  }
}

/** Sets a new password of a person and ends every session; undefined if there is no such account. */
export async function resetOwnerPassword(
  { db }: Opened,
  clock: Clock,
  email: string,
): Promise<{ email: string; password: string } | undefined> {
  const password = newPassword()
  const passwordHash = await new Passwords().hash(password, operator)
  const account = await changeAccount({ db }, clock, email, async (write, id) => {
    await accounts.updateAccount(write.tx, id, { password_hash: passwordHash })
    write.record('owner.password_reset', id, {})
  })
  return account && { email: account.email, password }
}

/** Ends every session of a person and revokes its reset links; undefined if there is no such account. */
export const signOutOwner = (
  { db }: Opened,
  clock: Clock,
  email: string,
): Promise<{ email: string } | undefined> =>
  changeAccount({ db }, clock, email, async (write, id) => write.record('owner.sessions_ended', id, {}))

/** Removes all second factors of a person and ends every session; undefined if there is no such account. */
export async function resetOwnerFactors(
  { db }: Opened,
  clock: Clock,
  email: string,
): Promise<{ email: string; isRemoved: boolean } | undefined> {
  let isRemoved = false
  const account = await changeAccount({ db }, clock, email, async (write, id) => {
    isRemoved = await removeFactors(write.tx, { kind: 'account', id })
    write.record('owner.second_factors_removed', id, {})
  })
  return account && { email: account.email, isRemoved }
}

async function changeAccount(
  { db }: Opened,
  clock: Clock,
  email: string,
  change: (write: WriteTransaction, id: string) => Promise<void>,
): Promise<AccountRow | undefined> {
  const found = await accounts.findAccountByEmail(db, normalizeEmail(email))
  if (!found) return undefined
  const ownerId = (await findLastVendor(db, found))?.ownerId ?? null
  return transactAsOperator(db, { ownerId, now: clock.now() }, async (write) => {
    const account = await accounts.lockAccount(write.tx, found.id)
    if (!account) return undefined
    await change(write, account.id)
    await endSessions(write.tx, { kind: 'account', id: account.id })
    await revokeResets(write.tx, 'owner', account.id)
    return account
  })
}
