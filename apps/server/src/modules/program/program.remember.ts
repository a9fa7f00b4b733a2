import { day } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId, newToken } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import { findByHash } from '../devices/devices.access.ts'
import type { Machine } from '../devices/devices.rules.ts'
import { lockEndUser } from '../end-users/end-users.access.ts'
import { toActor } from './program.actor.ts'
import type { SessionFacts } from './program.facts.ts'
import * as repo from './program.remember.repo.ts'
import type { ProgramDeps, SignedInUser } from './program.service.ts'
import { type Entry, enter, entryOf, toDevice } from './program.sign-in.ts'

/** A token names its row, so that a reused one is found after it was replaced. */
const makeToken = (id: string): string => `${newToken('kwd')}.${id}`

/** Remembers a sign-in on its device; undefined if the app does not, or the device is not bound. */
export async function remember(
  { ctx }: ProgramDeps,
  session: SessionFacts,
  { endUserId, address }: { endUserId: string; address: string },
): Promise<string | undefined> {
  const { app } = session
  return ctx.tx(toActor(session, address), async (write) => {
    const { tx, now } = write
    const days = await repo.readRememberDays(tx, app)
    // Concurrent sign-ins on one device, and calls that free it, wait for each other here.
    if (days === 0 || !(await lockEndUser(tx, app, endUserId))) return undefined
    // Another machine may have the same hardware id, so the session says which one this is.
    const hash = await repo.findHashOfSession(tx, session, endUserId)
    const device = hash === undefined ? undefined : await findByHash(tx, endUserId, hash)
    if (!device) return undefined
    const id = newId('dtk')
    const token = makeToken(id)
    await repo.putToken(tx, {
      id,
      owner_id: app.ownerId,
      app_id: app.id,
      client_id: endUserId,
      device_id: device.id,
      token_hash: sha256(token),
      previous_hash: null,
      created_at: now,
      expires_at: now + days * day,
    })
    write.record('device.remembered', device.id, { endUserId })
    return token
  })
}

interface Resume {
  deviceToken: string
  machine: Machine
  address: string
}

interface Resumed {
  user: SignedInUser
  deviceToken: string
}

/** Signs in with a remembered sign-in and replaces its token. A token that was replaced before ends it: it was copied. */
export async function resume(deps: ProgramDeps, session: SessionFacts, given: Resume): Promise<Resumed> {
  const { ctx } = deps
  const { app } = session
  const id = /^kwd_[\w-]{1,100}\.(dtk_\w{1,60})$/.exec(given.deviceToken)?.[1]
  const stored = id === undefined ? undefined : await repo.findToken(ctx.db, app, id)
  if (!stored || stored.expires_at <= ctx.clock.now()) throw problem('sessionUnauthed')
  const presented = sha256(given.deviceToken)
  const actor = toActor(session, given.address)
  if (presented !== stored.token_hash && presented !== stored.previous_hash) {
    await ctx.tx(actor, async (write) => {
      await repo.deleteToken(write.tx, app, stored.id)
      write.record('device.forgotten', stored.device_id, { endUserId: stored.client_id })
    })
    throw problem('sessionUnauthed')
  }
  const device = await toDevice(deps, app, given)
  const usual = entryOf(session, given.address)
  const entry: Entry<Resumed> = {
    ...usual,
    finish: async (write, admitted, isNew) => {
      const { tx, now } = write
      if ((await repo.findDeviceHash(tx, app, stored.device_id)) !== admitted.hwidHash) {
        throw problem('hwidMismatch')
      }
      const deviceToken = makeToken(stored.id)
      const days = await repo.readRememberDays(tx, app)
      const next = sha256(deviceToken)
      const expiresAt = now + days * day
      if (days === 0 || !(await repo.rotateToken(tx, app, stored.id, { presented, next, expiresAt }))) {
        throw problem('sessionUnauthed')
      }
      return { user: await usual.finish(write, admitted, isNew), deviceToken }
    },
  }
  return ctx.tx(actor, (write) => enter(write, entry, stored.client_id, device))
}
