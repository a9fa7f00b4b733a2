import type { Clock } from '../../core/clock.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { type Database, transactAsOperator } from '../../db/index.ts'
import type { OwnerRow } from '../../db/tables.ts'
import { getAccount } from '../accounts/accounts.service.ts'
import * as owners from '../owners/owners.service.ts'
import { endResellerSessionsAt, endSessionsAt } from '../sessions/sessions.service.ts'
import { switchWebhooks } from '../webhooks/webhooks.access.ts'

type Opened = Pick<Database, 'db'>

/** A vendor account after a change; `changed` is false if it was so before. */
export interface ChangedVendor {
  email: string
  ownerId: string
  changed: boolean
}

const sessionsAtOnce = 1000

/**
 * Refuses everyone who works with a vendor account: its owner, members, API keys and resellers. Its programs go on running for its
 * customers, unless `programs` stops them too. See ADR 90. Undefined if no vendor has the address.
 */
export async function disableVendor(
  { db }: Opened,
  clock: Clock,
  { email, programs }: { email: string; programs: boolean },
): Promise<ChangedVendor | undefined> {
  const found = await owners.findOwnerByEmail(db, normalizeEmail(email))
  if (!found) return undefined
  const scope = { ownerId: found.id }
  const done = await transactAsOperator(db, { ...scope, now: clock.now() }, async (write) => {
    const { tx } = write
    const owner = await owners.lockOwner(tx, scope)
    const stopsPrograms = programs && owner.paused_before === null
    const changed = owner.disabled_at === null || stopsPrograms
    if (changed) {
      await owners.setByOperator(tx, scope, {
        disabled_at: owner.disabled_at ?? write.now,
        ...(stopsPrograms ? { paused_before: owner.pause_applications, pause_applications: 1 } : {}),
      })
      if (owner.disabled_at === null) await switchWebhooks(tx, scope, false)
      write.record('vendor.disabled', owner.id, { programs: programs || owner.paused_before !== null })
    }
    await endSessionsAt(tx, scope)
    return toChanged(await getAccount(tx, owner.account_id), owner, changed)
  })
  // The vendor account refuses them from now on, so that their number need not fit into one transaction.
  const endSome = () =>
    transactAsOperator(db, { ...scope, now: clock.now() }, ({ tx }) =>
      endResellerSessionsAt(tx, scope, sessionsAtOnce),
    )
  while ((await endSome()) === sessionsAtOnce);
  return done
}

/** Takes back what `disableVendor` did, but for the sessions that it ended. Undefined if no vendor has the address. */
export async function enableVendor(
  { db }: Opened,
  clock: Clock,
  email: string,
): Promise<ChangedVendor | undefined> {
  const found = await owners.findOwnerByEmail(db, normalizeEmail(email))
  if (!found) return undefined
  const scope = { ownerId: found.id }
  return transactAsOperator(db, { ...scope, now: clock.now() }, async (write) => {
    const { tx } = write
    const owner = await owners.lockOwner(tx, scope)
    const changed = owner.disabled_at !== null
    if (changed) {
      const before = owner.paused_before
      await owners.setByOperator(tx, scope, {
        ...{ disabled_at: null, paused_before: null },
        ...(before === null ? {} : { pause_applications: before }),
      })
      await switchWebhooks(tx, scope, true)
      write.record('vendor.enabled', owner.id, {})
    }
    return toChanged(await getAccount(tx, owner.account_id), owner, changed)
  })
}

const toChanged = ({ email }: { email: string }, { id }: OwnerRow, changed: boolean): ChangedVendor => ({
  ...{ email, ownerId: id, changed },
})
