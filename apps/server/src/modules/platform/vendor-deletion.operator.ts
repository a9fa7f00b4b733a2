import type { Actor, OwnerScope } from '../../core/actor.ts'
import type { Clock } from '../../core/clock.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { type Database, type Db, type Transactions, transactAsOperator } from '../../db/index.ts'
import { deleteHistory } from '../account/account.deletion.ts'
import * as accounts from '../accounts/accounts.service.ts'
import { listVendors } from '../members/members.access.ts'
import * as owners from '../owners/owners.service.ts'
import { awaitsPayment } from '../payments/subscription.service.ts'
import type { DeletionParts } from './apps-overview.service.ts'
import { deleteContents } from './platform.service.ts'
import { disableVendor } from './vendors.operator.ts'

type Opened = Pick<Database, 'db'>

export interface DeletedVendor {
  email: string
  ownerId: string
  /** Whether the person is deleted too: one who is a member of another vendor stays. */
  person: boolean
}

/** What a deletion would remove; undefined if no vendor has the address. */
export async function findVendor({ db }: Opened, email: string): Promise<{ apps: number } | undefined> {
  const owner = await owners.findOwnerByEmail(db, normalizeEmail(email))
  return owner && { apps: owner.app_count }
}

/**
 * Deletes a vendor account with everything that belongs to it, in slices, and its owner. It is disabled first, so that nothing is added
 * meanwhile; an interrupted deletion is run again. Undefined if no vendor has the address.
 */
export async function deleteVendor(
  { db }: Opened,
  modules: DeletionParts['modules'],
  clock: Clock,
  typed: string,
): Promise<DeletedVendor | undefined> {
  const found = await owners.findOwnerByEmail(db, normalizeEmail(typed))
  if (!found) return undefined
  const scope = { ownerId: found.id }
  await refuseUnsettled(db, clock, found.id)
  await disableVendor({ db }, clock, { email: typed, programs: true })
  const ctx: Transactions = {
    db,
    tx: ({ ownerId }, ...work) => transactAsOperator(db, { ownerId, now: clock.now() }, ...work),
  }
  const actor: Actor & OwnerScope = { kind: 'operator', ...scope, apps: null }
  await deleteContents({ ctx, modules }, actor)
  await deleteHistory(ctx, actor)
  const changed = () => new OperatorError('The account has changed meanwhile. Run the command again.')
  return transactAsOperator(
    db,
    { ownerId: null, now: clock.now() },
    async (write) => {
      const { tx } = write
      const owner = await owners.lockOwner(tx, scope)
      await refuseUnsettled(tx, clock, owner.id)
      if (owner.app_count > 0 || owner.account_id !== found.account_id) throw changed()
      await owners.deleteOwner(tx, scope)
      const account = await accounts.lockAccount(tx, owner.account_id)
      if (!account) throw changed()
      const isMember = (await listVendors(tx, account.id)).length > 0
      if (!isMember) await accounts.deleteAccount(tx, account.id)
      write.record('vendor.deleted', owner.id, { account: account.id })
      return { email: account.email, ownerId: owner.id, person: !isMember }
    },
    { onGone: changed },
  )
}

async function refuseUnsettled(db: Db, clock: Clock, ownerId: string): Promise<void> {
  if (await awaitsPayment({ clock }, db, { ownerId }))
    throw new OperatorError('A payment or a refund of this vendor is still being processed. Try again later.')
}
