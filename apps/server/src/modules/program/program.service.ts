import type { SessionUser, Verdict } from '@keyward/contract'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { sameDigest, sha256 } from '../../core/crypto.ts'
import type { Ctx } from '../../core/ctx.ts'
import { problem, rateLimited } from '../../core/problem.ts'
import { type Attempts, keyFailures } from '../../http/limits.ts'
import type { AppFacts, LicenseFacts, ProgramReads, SessionFacts } from './program.reads.ts'
import { appVerdict, isBoundTo, isOlder, userVerdict } from './program.rules.ts'
import type { ProgramSessions } from './program.sessions.ts'

export interface ProgramDeps {
  ctx: Ctx
  reads: ProgramReads
  sessions: ProgramSessions
  attempts: Attempts
}

/** A known app, whatever its state; programs learn no more of an unknown one than that it is disabled. */
export async function getApp({ reads }: ProgramDeps, idOrAppId: string): Promise<AppFacts> {
  const app = await reads.app(idOrAppId)
  if (!app) throw problem('appDisabled')
  return app
}

export async function init(deps: ProgramDeps, app: AppFacts, given: { secret: string; version: string }) {
  if (!sameDigest(app.secret_hash, sha256(given.secret))) throw problem('appDisabled')
  refuseApp(app)
  const { token, expiresAt } = await deps.sessions.open(app)
  return {
    session: token,
    expiresAt: toIso(expiresAt),
    app: { name: app.app_name, version: app.app_version },
    updateAvailable: isOlder(given.version, app.app_version),
  }
}

/** Who is signed in; the reasons against it are told in their order. */
export function currentUser(deps: ProgramDeps, session: SessionFacts): SessionUser {
  const { client_id, username, client_expires_at, client_created_at } = session
  if (client_id === null || username === null || client_expires_at === null || client_created_at === null) {
    throw problem('sessionUnauthed')
  }
  const verdict = userVerdict(
    {
      userBanned: session.client_banned === 1,
      keyBanned: session.key_banned === 1,
      expiresAt: client_expires_at,
      boundHwid: session.client_hwid_hash,
    },
    { lockOn: lockOn(session), hwid: session.session_hwid_hash },
    deps.ctx.clock.now(),
  )
  if (verdict) throw problem(verdict)
  deps.sessions.use(session)
  return {
    _id: client_id,
    username,
    email: session.client_email,
    expiresAt: toIso(client_expires_at),
    createdAt: toIso(client_created_at),
    lastLoginAt: toIsoOrNull(session.last_login_at),
    hwidBound: session.client_hwid_hash !== null,
  }
}

/** Whether a key may be used now; writes nothing but a miss. */
export async function validate(
  deps: ProgramDeps,
  facts: LicenseFacts,
  { hwid, address }: { hwid: string | undefined; address: string },
): Promise<Verdict> {
  const { license_id, license_key, license_expires_at, misses, misses_end } = facts
  const refusal = appVerdict(facts)
  if (refusal) return { valid: false, code: refusal, license: null }
  if (misses !== null && misses_end !== null) {
    const waitMs = deps.attempts.waitOf(keyFailures, { count: misses, window_ends: misses_end })
    if (waitMs > 0 && !isBoundTo(facts.license_client_hwid_hash, hwid)) throw rateLimited(waitMs)
  }
  if (license_id === null || license_key === null || license_expires_at === null) {
    await deps.attempts.count(keyFailures, facts.app_row, address)
    return { valid: false, code: 'keyNotFound', license: null }
  }
  const license = {
    key: license_key,
    used: facts.license_used === 1,
    username: facts.license_username,
    expiresAt: toIso(license_expires_at),
  }
  const verdict = userVerdict(
    {
      userBanned: facts.license_client_banned === 1,
      keyBanned: facts.license_banned === 1,
      expiresAt: license_expires_at,
      boundHwid: facts.license_client_hwid_hash,
    },
    { lockOn: lockOn(facts), hwid: hwid ? sha256(hwid) : null },
    deps.ctx.clock.now(),
  )
  return verdict ? { valid: false, code: verdict, license } : { valid: true, license }
}

export const lockOn = (app: AppFacts): boolean => app.platform_hwid_lock === 1 && app.app_hwid_lock === 1

function refuseApp(app: AppFacts): void {
  const verdict = appVerdict(app)
  if (verdict) throw problem(verdict)
}
