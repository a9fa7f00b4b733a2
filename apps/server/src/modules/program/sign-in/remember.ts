import { day, minute } from '../../../core/clock.ts'
import { sha256 } from '../../../core/crypto.ts'
import { newId, newToken } from '../../../core/ids.ts'
import { requireSession } from '../../../core/problem.ts'
import type { WriteTransaction } from '../../../db/index.ts'
import * as tokens from '../../devices/device-tokens.access.ts'
import { findByHash } from '../../devices/devices.access.ts'
import type { Machine } from '../../devices/devices.rules.ts'
import { lockEndUser } from '../../end-users/end-users.access.ts'
import type { SignedInUser } from '../checks/session.ts'
import { type AppFacts, type SessionFacts, toActor } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { refusedLater } from '../verdict/refusal.ts'
import { enter, type SignInCall, sessionSignIn, toDevice } from './admit.ts'

/**
 * A token is replaced at most once in this time. Programs of one machine that start together hold the latest token or the
 * one before it, and all get the same next one.
 */
const exchangeEveryMs = minute

/** A token names its row, so that a reused one is found after it was replaced. */
const makeToken = (id: string): string => `${newToken('kwd')}.${id}`

/**
 * The token that replaces `token` at this time. It is derived, so it can be computed again, but only with this
 * installation's key.
 */
function nextToken({ ctx }: ProgramDeps, token: string, at: number): string {
  const digest = ctx.seal.digest(`device_token:${token}:${at}`)
  return `kwd_${Buffer.from(digest, 'hex').toString('base64url')}${token.slice(token.indexOf('.'))}`
}

/** Remembers a sign-in on its device; undefined if the app does not, or the device is not bound. */
export async function remember(
  { ctx }: ProgramDeps,
  session: SessionFacts,
  { endUserId, address }: { endUserId: string; address: string },
): Promise<string | undefined> {
  const { app } = session
  return ctx.tx(toActor(session, address), async (write) => {
    const { tx, now } = write
    const days = await tokens.readRememberDays(tx, app)
    // Concurrent sign-ins on one device, and calls that free it, wait for each other here.
    if (days === 0 || !(await lockEndUser(tx, app, endUserId))) return undefined
    // Another machine may have the same hardware id, so the session says which one this is.
    const hash = await tokens.findHashOfSession(tx, session, endUserId)
    const device = hash === undefined ? undefined : await findByHash(tx, endUserId, hash)
    if (!device) return undefined
    const id = newId('dtk')
    const token = makeToken(id)
    await tokens.putToken(tx, {
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
    write.record('device.remembered', device.id, { endUserId }, app.id)
    return token
  })
}

/** The remembered sign-in that a token names, until it ends. */
export async function readRemembered({ ctx }: Pick<ProgramDeps, 'ctx'>, app: AppFacts, token: string) {
  const stored = await tokens.findToken(ctx.db, app, tokens.idOfToken(token) ?? '')
  return requireSession(stored && stored.expires_at > ctx.clock.now() && stored)
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

/**
 * Signs in with a remembered sign-in and rotates its token. A token older than the previous one revokes the sign-in, because
 * it must have been copied.
 */
export async function resume(deps: ProgramDeps, session: SessionFacts, sent: Resume): Promise<Resumed> {
  const { ctx } = deps
  const { app } = session
  const stored = await readRemembered(deps, app, sent.deviceToken)
  const presented = sha256(sent.deviceToken)
  const actor = toActor(session, sent.address)
  if (presented !== stored.token_hash && presented !== stored.previous_hash) {
    const isCopied = await ctx.tx(actor, async (write) => {
      const isDeleted = await tokens.deleteCopiedToken(write.tx, app, stored.id, presented)
      if (isDeleted)
        write.record('device.forgotten', stored.device_id, { endUserId: stored.client_id }, app.id)
      return isDeleted
    })
    requireSession(!isCopied)
  }
  const device = await toDevice(deps, app, sent)
  const usual = sessionSignIn('resume', session, sent.address)
  const signIn: SignInCall<Resumed> = {
    ...usual,
    finish: async (write, admitted, isNew) => {
      if ((await tokens.findDeviceHash(write.tx, app, stored.device_id)) !== admitted.hwidHash) {
        throw refusedLater('hwidMismatch', admitted.facts)
      }
      const deviceToken = await exchange(deps, write, app, { id: stored.id, token: sent.deviceToken })
      return { user: await usual.finish(write, admitted, isNew), deviceToken }
    },
  }
  return ctx.tx(actor, (write) => enter(write, signIn, stored.client_id, device))
}

/** Returns the next token; throws `sessionUnauthed` if the presented one is not valid any more. */
async function exchange(
  deps: ProgramDeps,
  { tx, now }: WriteTransaction,
  app: AppFacts,
  { id, token }: { id: string; token: string },
): Promise<string> {
  const presented = sha256(token)
  const days = requireSession(await tokens.readRememberDays(tx, app))
  const stored = requireSession(await tokens.findToken(tx, app, id))
  if (Math.abs(now - stored.created_at) < exchangeEveryMs) {
    if (presented === stored.token_hash) return token
    const latest = nextToken(deps, token, stored.created_at)
    if (sha256(latest) === stored.token_hash) return latest
  }
  const deviceToken = nextToken(deps, token, now)
  const change = { presented, next: sha256(deviceToken), now, expiresAt: now + days * day }
  requireSession(await tokens.rotateToken(tx, app, id, change))
  return deviceToken
}
