import { canonicalLocale, type MessageKey, type SessionUser, type Verdict } from '@keyward/contract'
import { type Attempts, keyFailures } from '../../core/attempts.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { sameDigest, sha256 } from '../../core/crypto.ts'
import type { Ctx } from '../../core/ctx.ts'
import type { LeakedPasswords } from '../../core/leaked-passwords.ts'
import { problem, rateLimited } from '../../core/problem.ts'
import { toJwk } from '../../core/signing.ts'
import type { BlockTables } from '../blocklist/block-tables.ts'
import { listAllowedHashes } from '../blocklist/blocklist.service.ts'
import { endAt } from '../entitlements/term.rules.ts'
import { listPinnableKeys } from '../signing-keys/signing-keys.access.ts'
import { judgeCaller } from './program.caller.ts'
import type { AppFacts, EndUserFacts, LicenseFacts, ProgramReads, SessionFacts } from './program.facts.ts'
import { isAllowedBuild, isOlder } from './program.rules.ts'
import type { ProgramSessions } from './program.sessions.ts'
import { appVerdict, hashHwid, isBoundTo, userVerdict } from './program.verdict.ts'

export interface ProgramDeps {
  ctx: Ctx
  blocks: BlockTables
  leaked: LeakedPasswords
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

interface Init {
  secret: string
  version: string
  hash?: string | undefined
  locale?: string | undefined
}

export async function init(deps: ProgramDeps, app: AppFacts, given: Init) {
  if (!sameDigest(app.secretHash, sha256(given.secret))) throw problem('appDisabled')
  const refusal = appVerdict(app)
  if (refusal) throw problem(refusal)
  if (app.checkHash && !isAllowedBuild(await listAllowedHashes(deps.ctx, app.id), given)) {
    throw problem('hashCheckFail')
  }
  const locale = given.locale === undefined ? undefined : canonicalLocale(given.locale)
  const { token, expiresAt } = deps.sessions.open(app, locale === undefined ? {} : { locale })
  return {
    session: token,
    expiresAt: toIso(expiresAt),
    app: { name: app.name, version: app.version },
    updateAvailable: isOlder(given.version, app.version),
  }
}

/** The public keys that programs may pin, newest first. */
export async function listKeys({ ctx }: ProgramDeps, { id, signing }: AppFacts) {
  const keys = await listPinnableKeys(ctx.db, id)
  const pinnable = keys.length > 0 ? keys : [{ ...signing, status: 'current' as const }]
  return pinnable.map(({ kid, publicKey, status }) => ({ ...toJwk(kid, publicKey), status }))
}

/** Returns the signed-in end user if the verdict allows the program to run. */
export async function currentUser(
  deps: ProgramDeps,
  session: SessionFacts,
  address: string,
): Promise<SessionUser> {
  const { app, endUser, firstKey } = session
  if (!endUser) throw problem('sessionUnauthed')
  const refusal = userVerdict({
    app,
    endUser,
    key: firstKey,
    caller: await judgeCaller(deps, app, { hwidHash: session.hwidHash, address }),
    expiresAt: endUser.expiresAt,
    sentHwidHash: session.hwidHash,
    now: deps.ctx.clock.now(),
  })
  if (refusal) throw problem(refusal.code, refusal)
  deps.sessions.use(session)
  return toSessionUser(endUser, deps.ctx.clock.now())
}

/** Checks whether a key can be used now; writes nothing except a miss. */
export async function validate(
  deps: ProgramDeps,
  { app, key, endUser, misses }: LicenseFacts,
  { hwid, address }: { hwid: string | undefined; address: string },
): Promise<{ verdict: Verdict; reason: string | null }> {
  const refuse = (code: MessageKey, license: Verdict['license'], reason: string | null = null) => ({
    verdict: { valid: false, code, license },
    reason,
  })
  const appRefusal = appVerdict(app)
  if (appRefusal) return refuse(appRefusal, null)
  const waitMs = misses ? deps.attempts.waitOf(keyFailures, misses) : 0
  const isBound = isBoundTo(endUser?.hwidHash ?? null, hwid)
  if (waitMs > 0 && !isBound) throw rateLimited(waitMs)
  if (!key) {
    await deps.attempts.count(keyFailures, app.id, address)
    return refuse('keyNotFound', null)
  }
  if (!isBound) await deps.attempts.recheck(keyFailures, app.id, address)
  const { expiresAt } = key
  const now = deps.ctx.clock.now()
  const license = {
    key: key.text,
    used: key.isUsed,
    username: endUser?.username ?? null,
    ...toShownEnding(key, now),
    term: key.term,
  }
  const sentHwidHash = hashHwid(hwid)
  const refusal = userVerdict({
    app,
    endUser,
    key,
    caller: await judgeCaller(deps, app, { hwidHash: sentHwidHash, address }),
    expiresAt,
    sentHwidHash,
    now,
  })
  if (refusal) return refuse(refusal.code, license, refusal.reason)
  return { verdict: { valid: true, license }, reason: null }
}

const toShownEnding = (
  { expiresAt, graceDays }: Pick<EndUserFacts, 'expiresAt' | 'graceDays'>,
  now: number,
) => {
  const end = endAt({ expires_at: expiresAt, grace_days: graceDays }, now)
  return { expiresAt: toIsoOrNull(end.expiresAt), inGrace: end.inGrace }
}

export const toSessionUser = (endUser: EndUserFacts, now: number): SessionUser => ({
  _id: endUser.id,
  username: endUser.username,
  email: endUser.email,
  ...toShownEnding(endUser, now),
  term: endUser.term,
  createdAt: toIso(endUser.createdAt),
  lastLoginAt: toIsoOrNull(endUser.lastLoginAt),
  hwidBound: endUser.hwidHash !== null,
})
