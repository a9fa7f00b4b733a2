import type { SessionUser, Verdict } from '@keyward/contract'
import { type Attempts, keyFailures } from '../../core/attempts.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { sameDigest, sha256 } from '../../core/crypto.ts'
import type { Ctx } from '../../core/ctx.ts'
import { problem, rateLimited } from '../../core/problem.ts'
import type { AppFacts, EndUserFacts, LicenseFacts, ProgramReads, SessionFacts } from './program.facts.ts'
import { isOlder } from './program.rules.ts'
import type { ProgramSessions } from './program.sessions.ts'
import { appVerdict, hashHwid, isBoundTo, userVerdict } from './program.verdict.ts'

export interface ProgramDeps {
  ctx: Ctx
  reads: ProgramReads
  sessions: ProgramSessions
  attempts: Attempts
}

/** Finds an app in any state; programs see an unknown app as disabled. */
export async function getApp({ reads }: ProgramDeps, idOrAppId: string): Promise<AppFacts> {
  const app = await reads.app(idOrAppId)
  if (!app) throw problem('appDisabled')
  return app
}

export function init(deps: ProgramDeps, app: AppFacts, given: { secret: string; version: string }) {
  if (!sameDigest(app.secretHash, sha256(given.secret))) throw problem('appDisabled')
  const refusal = appVerdict(app)
  if (refusal) throw problem(refusal)
  const { token, expiresAt } = deps.sessions.open(app)
  return {
    session: token,
    expiresAt: toIso(expiresAt),
    app: { name: app.name, version: app.version },
    updateAvailable: isOlder(given.version, app.version),
  }
}

/** Returns the signed-in end user if the verdict allows the program to run. */
export function currentUser(deps: ProgramDeps, session: SessionFacts): SessionUser {
  const { app, endUser, firstKey } = session
  if (!endUser) throw problem('sessionUnauthed')
  const refusal = userVerdict({
    app,
    endUser,
    key: firstKey,
    expiresAt: endUser.expiresAt,
    sentHwidHash: session.hwidHash,
    now: deps.ctx.clock.now(),
  })
  if (refusal) throw problem(refusal)
  deps.sessions.use(session)
  return toSessionUser(endUser)
}

/** Checks whether a key can be used now; writes nothing except a miss. */
export async function validate(
  deps: ProgramDeps,
  { app, key, endUser, misses }: LicenseFacts,
  { hwid, address }: { hwid: string | undefined; address: string },
): Promise<Verdict> {
  const appRefusal = appVerdict(app)
  if (appRefusal) return { valid: false, code: appRefusal, license: null }
  const waitMs = misses ? deps.attempts.waitOf(keyFailures, misses) : 0
  const isBound = isBoundTo(endUser?.hwidHash ?? null, hwid)
  if (waitMs > 0 && !isBound) throw rateLimited(waitMs)
  if (!key) {
    await deps.attempts.count(keyFailures, app.id, address)
    return { valid: false, code: 'keyNotFound', license: null }
  }
  if (!isBound) await deps.attempts.recheck(keyFailures, app.id, address)
  const { expiresAt } = key
  const license = {
    key: key.text,
    used: key.isUsed,
    username: endUser?.username ?? null,
    expiresAt: toIso(expiresAt),
  }
  const sentHwidHash = hashHwid(hwid)
  const refusal = userVerdict({ app, endUser, key, expiresAt, sentHwidHash, now: deps.ctx.clock.now() })
  return refusal ? { valid: false, code: refusal, license } : { valid: true, license }
}

export const toSessionUser = (endUser: EndUserFacts): SessionUser => ({
  _id: endUser.id,
  username: endUser.username,
  email: endUser.email,
  expiresAt: toIso(endUser.expiresAt),
  createdAt: toIso(endUser.createdAt),
  lastLoginAt: toIsoOrNull(endUser.lastLoginAt),
  hwidBound: endUser.hwidHash !== null,
})
