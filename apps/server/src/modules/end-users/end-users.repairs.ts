import type { BodyOf, Client, endpoints } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { toEpochMs } from '../../core/clock.ts'
import { normalizeName } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { accessEnd, displayedEnd } from '../../db/stored-end.ts'
import type { Ctx } from '../../service/ctx.ts'
import { linkedCustomer } from '../customers/customers.access.ts'
import { updateEndUser } from '../entitlements/end-user-rows.ts'
import { endNow } from '../entitlements/grants.changes.ts'
import { changeAccess, sourceOf } from '../entitlements/grants.ts'
import { lockLicensesOf } from '../entitlements/license-rows.ts'
import { findFirstLicense, findLicenseById } from '../licenses/licenses.access.ts'
import { getLimits } from '../owners/owners.service.ts'
import type { LockedEndUser } from './end-users.access.ts'
import { addKey } from './end-users.added-key.ts'
import { reserveExtension } from './end-users.limit.ts'
import { findEndUser } from './end-users.repo.ts'
import { toNewUsername } from './end-users.rules.ts'
import { changeEndUser } from './end-users.service.ts'

export type Repair = BodyOf<typeof endpoints.clients.update>

/** Changes the name, address, end or customer of an end user. */
export async function repairEndUser(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { username, email, expiresAt, customer, seen }: Repair,
): Promise<Client> {
  const name = username === undefined ? undefined : toNewUsername(username)
  const { maxLicensesPerApp } = await getLimits(ctx, actor)
  let customerId: string | null | undefined
  return changeEndUser(
    ctx,
    actor,
    id,
    async (write, client) => {
      const { tx } = write
      if (hasOtherEnd(client, write.now, seen?.expiresAt, expiresAt)) throw problem('client_changed')
      const change = {
        ...(name !== undefined && name !== client.username && renamed(name)),
        ...(email !== undefined && { email }),
        ...(customerId !== undefined && { customer_id: customerId }),
      }
      const fields = ['username', 'email', 'customer'].filter(
        (field) => (field === 'customer' ? 'customer_id' : field) in change,
      )
      if (fields.length > 0) {
        await updateEndUser(tx, actor, id, change)
        write.record('end_user.updated', id, { fields }, client.app_id)
      }
      if (expiresAt === undefined) return
      await reserveExtension(tx, actor, [id], maxLicensesPerApp, write.now)
      await setEnd(write, actor, client, expiresAt)
    },
    {
      onTaken: () => problem('username_taken'),
      lockFirst: async (write) => {
        const found = customer ? await findEndUser(write.tx, actor, id) : undefined
        if (customer && !found) throw problem('not_found')
        customerId = await linkedCustomer(write, actor, customer, found?.app_id ?? '')
        if (expiresAt !== undefined) await lockLicensesOf(write.tx, actor, { clients: [id] })
      },
    },
  )
}

export const renamed = (username: string) => ({
  username,
  username_normalized: normalizeName(username),
})

/** Whether the end is neither the one that the caller saw nor the wanted one. That of a paused one moves with the clock. */
function hasOtherEnd(
  client: LockedEndUser,
  now: number,
  seen: string | null | undefined,
  wanted = seen,
): boolean {
  if (seen === undefined || client.paused_at !== null) return false
  const current = displayedEnd(client, now)
  return [seen, wanted].every((end) => (typeof end === 'string' ? toEpochMs(end) : null) !== current)
}

/** A past end is accepted: access ends now. The end replaces what added keys gave. */
async function setEnd(
  write: WriteTransaction,
  actor: VendorActor,
  client: LockedEndUser,
  expiresAt: string | null,
): Promise<void> {
  const { now } = write
  const end = expiresAt === null ? null : toEpochMs(expiresAt)
  const [changed] = await changeAccess(write, actor, { clients: [client.id] }, (holder) => ({
    added: [endNow(holder, end, now, sourceOf(write.actor))],
  }))
  const after = changed ? displayedEnd(changed.after.access, now) : null
  const before = displayedEnd(client, now)
  write.record('end_user.expiry_changed', client.id, { before, after }, client.app_id)
}

/** Adds an unused license of the app to an end user, as programs do by `upgrade`. */
export function addLicense(ctx: Ctx, actor: VendorActor, id: string, licenseId: string): Promise<Client> {
  return changeEndUser(
    ctx,
    actor,
    id,
    async (write, client) => {
      const { tx, now } = write
      const app = { id: client.app_id, ownerId: actor.ownerId, apps: actor.apps }
      const key = await findLicenseById(tx, app.id, licenseId)
      if (!key || key.owner_id !== actor.ownerId) throw licenseGone()
      if (client.banned === 1 || client.paused_at !== null) throw problem('end_user_blocked')
      const isFree = key.used === 0 && key.banned === 0 && accessEnd(key, now) > now
      if (!isFree) throw problem('license_not_free')
      const first = await findFirstLicense(tx, app.id, client)
      const added = await addKey(write, app, { client, first }, key, addsNothing)
      if (!added) throw problem('license_not_free')
    },
    { lockFirst: ({ tx }) => lockLicensesOf(tx, actor, { clients: [id], licenses: [licenseId] }) },
  )
}

const licenseGone = () => problem('not_found', { message: 'License not found' })
const addsNothing = () =>
  problem('never_expires', { message: 'This end user never expires, and the license adds nothing to it' })
