import type { Advisory, ProgramCall, SessionUser } from '@keyward/contract'
import { toIso, toIsoOrNull } from '../../../core/clock.ts'
import { problem, requireSession } from '../../../core/problem.ts'
import { after, type Soon } from '../../../core/queues/after.ts'
import { sentHash } from '../../devices/devices.rules.ts'
import { endFields } from '../../entitlements/terms.rules.ts'
import { adviseOn, hasUpdate } from '../../releases/catalog.rules.ts'
import { judgeCaller } from '../facts/caller.ts'
import type { AppFacts, EndUserFacts, SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { retakeSeat } from '../sessions/seats.ts'
import { refused } from '../verdict/refusal.ts'
import { appVerdict, factsOf, type VerdictFacts, verdict } from '../verdict/verdict.ts'

/** Returns the session of a call unless it has ended, or no program of its app may run. */
export function openSession(app: AppFacts, session: SessionFacts | undefined, now: number): SessionFacts {
  const refusal = appVerdict(app)
  if (refusal) throw problem(refusal)
  const isOpen = session && session.expiresAt > now && session.secretVersion === app.secretVersion
  return requireSession(isOpen && session)
}

/** The signed-in end user of a session, with its seat. */
export const checkSession = (deps: ProgramDeps, session: SessionFacts, address: string): Soon<SignedInUser> =>
  after(allowedUser(deps, session, { call: 'session', address }), (allowed) =>
    after(seatOf(deps, session, { ...allowed, address }), (seatUntil) =>
      toSessionUser(allowed.endUser, allowed.facts.now, { ...session, seatUntil }),
    ),
  )

/** Until when its seat is taken; null where seats are not counted. */
function seatOf(deps: ProgramDeps, session: SessionFacts, call: Allowed & { address: string }) {
  const { seatUntil } = session
  if (!call.endUser.floating) return null
  if (seatUntil === null || seatUntil <= call.facts.now) return retakeSeat(deps.ctx, session, call)
  deps.sessions.renewSeat(session, seatUntil, call.endUser.floating.timeoutMs)
  return seatUntil
}

interface SessionCall {
  call: ProgramCall
  address: string
  /** Whether the call names another machine than the session signed in on. */
  isAnother?: boolean
}

interface Allowed {
  endUser: EndUserFacts
  facts: VerdictFacts
}

/** Returns the signed-in end user unless the verdict refuses; whether a seat is free is decided after it. */
export function allowedUser(
  deps: ProgramDeps,
  session: SessionFacts,
  { call, address, isAnother = false }: SessionCall,
): Soon<Allowed> {
  const { app, firstKey, hwidHash, device } = session
  const endUser = requireSession(session.endUser)
  const caller = { hwidHash: hwidHash && sentHash(hwidHash), readParts: device?.readParts, address }
  return after(judgeCaller(deps, app, caller), (judged) => {
    const facts = factsOf(call, {
      app,
      endUser,
      key: firstKey,
      caller: judged,
      updates: { version: session.version, until: endUser.updatesUntil },
      device: { isSent: hwidHash !== null, isBound: device !== null, isAnother, ...endUser.devices },
      now: deps.ctx.clock.now(),
    })
    const refusal = verdict(facts)
    if (refusal) {
      advise(deps, session)
      throw refused(refusal)
    }
    deps.sessions.use(session)
    return { endUser, facts }
  })
}

/** What a signed-in program is told of its version, and notes that its device was told. */
export function advise({ ctx, sessions }: ProgramDeps, session: SessionFacts): Advisory | null {
  const advice = adviseOn(session.app.releases, session.version, ctx.clock.now())
  if (!advice) return null
  sessions.tell(session, advice.fix)
  return advice.advisory
}

/** The end that programs see, without grace days. */
export function endFieldsOf(
  { expiresAt, graceDays }: Pick<EndUserFacts, 'expiresAt' | 'graceDays'>,
  now: number,
) {
  const end = endFields({ expires_at: expiresAt, grace_days: graceDays }, now)
  return { expiresAt: end.expiresAt, inGrace: end.inGrace }
}

/** A signed-in end user; the variables are read after the sign-in was committed. */
export type SignedInUser = Omit<SessionUser, 'variables'>

/** What a session adds to its end user. */
export type UserSession = Pick<SessionFacts, 'app' | 'version' | 'seatUntil'>

export const toSessionUser = (
  endUser: EndUserFacts,
  now: number,
  { app, version, seatUntil }: UserSession,
): SignedInUser => ({
  _id: endUser.id,
  username: endUser.username,
  email: endUser.email,
  ...endFieldsOf(endUser, now),
  term: endUser.term,
  createdAt: toIso(endUser.createdAt),
  lastLoginAt: toIsoOrNull(endUser.lastLoginAt),
  hwidBound: endUser.devices.used > 0,
  devices: endUser.devices,
  seat: seatUntil === null ? null : { until: toIso(seatUntil) },
  features: endUser.features === '[]' ? [] : JSON.parse(endUser.features),
  updatesUntil: toIsoOrNull(endUser.updatesUntil),
  updateAvailable: hasUpdate(
    app.releases,
    { program: version, app: app.version, until: endUser.updatesUntil },
    now,
  ),
})
