import { canonicalLocale, type DeviceUse, type RefusalDetails, type SessionUser } from '@keyward/contract'
import { toIso, toIsoOrNull } from '../../../core/clock.ts'
import { sameDigest, sha256 } from '../../../core/crypto.ts'
import type { LeakedPasswords } from '../../../core/leaked-passwords.ts'
import { type Problem, problem } from '../../../core/problem.ts'
import { toJwk } from '../../../core/signing.ts'
import type { Attempts } from '../../../service/attempts.ts'
import type { Ctx } from '../../../service/ctx.ts'
import type { ActivityLog } from '../../activity/activity.log.ts'
import type { BlockTables } from '../../blocklist/block-tables.ts'
import { listAllowedHashes } from '../../blocklist/blocklist.service.ts'
import type { Machine } from '../../devices/devices.rules.ts'
import { type Match, sentHash } from '../../devices/devices.service.ts'
import { endAt } from '../../entitlements/term.rules.ts'
import { listPinnableKeys } from '../../signing-keys/signing-keys.access.ts'
import { judgeCaller } from '../facts/caller.ts'
import type { AppFacts, EndUserFacts, SessionFacts } from '../facts/facts.ts'
import type { ProgramReads } from '../facts/reads.ts'
import type { ProgramSessions } from '../sessions/sessions.ts'
import { because } from '../verdict/refusal.ts'
import { appVerdict, type DeviceFacts, type Refusal, userVerdict } from '../verdict/verdict.ts'
import { hasUpdate, isAllowedBuild, isOlder } from './rules.ts'
import type { ProgramSdks } from './sdks.ts'
import type { ProgramVariables } from './variables.ts'

export interface ProgramDeps {
  ctx: Ctx
  activity: ActivityLog
  blocks: BlockTables
  leaked: LeakedPasswords
  reads: ProgramReads
  sessions: ProgramSessions
  sdks: ProgramSdks
  variables: ProgramVariables
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
  sdk?: string | undefined
}

export async function init(deps: ProgramDeps, app: AppFacts, call: Init) {
  if (!sameDigest(app.secretHash, sha256(call.secret))) {
    throw because(problem('appDisabled'), { detail: { cause: 'secret' } })
  }
  const refusal = appVerdict(app)
  if (refusal) throw problem(refusal)
  if (app.checkHash && !isAllowedBuild(await listAllowedHashes(deps.ctx, app.id), call)) {
    throw because(problem('hashCheckFail'), { detail: { version: call.version, hash: call.hash ?? null } })
  }
  deps.sdks.note(app.id, call.sdk)
  const locale = call.locale === undefined ? undefined : canonicalLocale(call.locale)
  const { token, expiresAt } = deps.sessions.open(app, {
    version: call.version,
    ...(locale === undefined ? {} : { locale }),
  })
  return {
    session: token,
    expiresAt: toIso(expiresAt),
    app: { name: app.name, version: app.version },
    updateAvailable: isOlder(call.version, app.version),
    variables: await deps.variables.public(app),
  }
}

/** The public keys that programs may pin, newest first. */
export async function listKeys({ ctx }: ProgramDeps, { id, signing }: AppFacts) {
  const keys = await listPinnableKeys(ctx.db, id)
  const pinnable = keys.length > 0 ? keys : [{ ...signing, status: 'current' as const }]
  return pinnable.map(({ kid, publicKey, status }) => ({ ...toJwk(kid, publicKey), status }))
}

/** Returns the signed-in end user unless the verdict refuses; whether a seat is free is decided after it. */
export async function allowedUser(
  deps: ProgramDeps,
  session: SessionFacts,
  address: string,
): Promise<{ endUser: EndUserFacts; now: number }> {
  const { app, endUser, firstKey, hwidHash, device } = session
  const now = deps.ctx.clock.now()
  if (!endUser) throw problem('sessionUnauthed')
  const refusal = userVerdict({
    app,
    endUser,
    key: firstKey,
    caller: await judgeCaller(deps, app, {
      hwidHash: hwidHash && sentHash(hwidHash),
      readParts: device?.readParts,
      address,
    }),
    mustBeActivated: false,
    updates: { releasedAt: session.releasedAt, until: endUser.updatesUntil },
    expiresAt: endUser.expiresAt,
    device: {
      isSent: hwidHash !== null,
      isBound: device !== null,
      ...endUser.devices,
    },
    now,
  })
  if (refusal) throw refused(refusal, endUser, now)
  deps.sessions.use(session)
  return { endUser, now }
}

type Ending = Pick<EndUserFacts, 'expiresAt' | 'graceDays'>

export const toShownEnding = ({ expiresAt, graceDays }: Ending, now: number) => {
  const end = endAt({ expires_at: expiresAt, grace_days: graceDays }, now)
  return { expiresAt: toIsoOrNull(end.expiresAt), inGrace: end.inGrace }
}

/** What the verdict has to know about the machine of a sign-in or a validation. */
export const toDeviceFacts = (
  machine: Machine | undefined,
  match: Match | { kind: 'bound' } | undefined,
  use: DeviceUse,
): DeviceFacts => ({
  ...use,
  isSent: machine !== undefined,
  isBound: match !== undefined && ['bound', 'known', 'drifted'].includes(match.kind),
  hasDriftedTooOften: match?.kind === 'drifted too often',
})

/** A refusal after the key or password was right. */
export function refused({ code, reason, facts }: Refusal, shown: Detailed, now: number): Problem {
  return because(problem(code, { reason, details: toDetails(shown, now) }), { facts })
}

type Detailed = Ending & Pick<EndUserFacts, 'startedAt' | 'devices'>

export const toDetails = (facts: Detailed, now: number): RefusalDetails => ({
  expiresAt: toShownEnding(facts, now).expiresAt,
  startedAt: toIsoOrNull(facts.startedAt),
  devices: facts.devices,
  seats: null,
  until: null,
})

/** A signed-in end user; the variables are read after the sign-in was committed. */
export type SignedInUser = Omit<SessionUser, 'variables'>

/** What a session adds to its end user. */
export type UserSession = Pick<SessionFacts, 'app' | 'version' | 'seatUntil' | 'covered'>

export const toSessionUser = (
  endUser: EndUserFacts,
  now: number,
  { app, version, seatUntil, covered }: UserSession,
): SignedInUser => ({
  _id: endUser.id,
  username: endUser.username,
  email: endUser.email,
  ...toShownEnding(endUser, now),
  term: endUser.term,
  createdAt: toIso(endUser.createdAt),
  lastLoginAt: toIsoOrNull(endUser.lastLoginAt),
  hwidBound: endUser.devices.used > 0,
  devices: endUser.devices,
  seat: seatUntil === null ? null : { until: toIso(seatUntil) },
  features: endUser.features === '[]' ? [] : JSON.parse(endUser.features),
  updatesUntil: toIsoOrNull(endUser.updatesUntil),
  updateAvailable: hasUpdate(version, app.version, { ...covered, until: endUser.updatesUntil }),
})
