import type { OfOwner } from '../../core/actor.ts'
import { operator } from '../../core/caller.ts'
import type { Clock } from '../../core/clock.ts'
import { newPassword, normalizeName } from '../../core/ids.ts'
import { Passwords } from '../../core/passwords.ts'
import { type Database, transactAsOperator, type WriteTransaction } from '../../db/index.ts'
import type { OwnerRow } from '../../db/tables.ts'
import * as owners from '../owners/owners.service.ts'
import { revokeResets } from '../password-resets/password-resets.access.ts'
import { endSessions } from '../sessions/sessions.service.ts'
import { holderOf } from './account.service.ts'

type Opened = Pick<Database, 'db'>

const pageSize = 500

/** All owners by address, in batches: a server may have a hundred thousand. */
export async function* listOwners({ db }: Opened): AsyncGenerator<OwnerRow[]> {
  for (let after = ''; ; ) {
    const page = await owners.listOwnersAfter(db, after, pageSize)
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    after = last.email_normalized
  }
}

/** Sets a new password and ends every session; undefined if there is no such account. */
export async function resetOwnerPassword(
  { db }: Opened,
  clock: Clock,
  email: string,
): Promise<{ email: string; password: string } | undefined> {
  const password = newPassword()
  const passwordHash = await new Passwords().hash(password, operator)
  const owner = await changeOwner({ db }, clock, email, async (write, scope) => {
    await owners.updateOwner(write.tx, scope, { password_hash: passwordHash })
    write.record('owner.password_reset', scope.ownerId, {})
  })
  return owner && { email: owner.email, password }
}

/** Ends every session of an owner and revokes its reset links; undefined if there is no such account. */
export const signOutOwner = (
  { db }: Opened,
  clock: Clock,
  email: string,
): Promise<{ email: string } | undefined> =>
  changeOwner({ db }, clock, email, async (write, { ownerId }) =>
    write.record('owner.sessions_ended', ownerId, {}),
  )

async function changeOwner(
  { db }: Opened,
  clock: Clock,
  email: string,
  change: (write: WriteTransaction, scope: OfOwner) => Promise<void>,
): Promise<OwnerRow | undefined> {
  const found = await owners.findOwnerByEmail(db, normalizeName(email))
  if (!found) return undefined
  const scope = { ownerId: found.id }
  return transactAsOperator(db, { ...scope, now: clock.now() }, async (write) => {
    const owner = await owners.lockOwner(write.tx, scope)
    await change(write, scope)
    await endSessions(write.tx, holderOf(scope))
    await revokeResets(write.tx, 'owner', found.id)
    return owner
  })
}
