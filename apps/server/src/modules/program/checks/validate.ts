import type { MessageKey, Verdict } from '@keyward/contract'
import { Problem, rateLimited } from '../../../core/problem.ts'
import { keyFailures } from '../../../service/attempts.ts'
import { differs, isPlaceholder, type Machine } from '../../devices/devices.rules.ts'
import { type Match, matchDevice } from '../../devices/devices.service.ts'
import { findLicenseById } from '../../licenses/licenses.access.ts'
import { callerOf, judgeCaller, toDeviceFacts } from '../facts/caller.ts'
import { type LicenseFacts, toActor } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { toDevice } from '../sign-in/admit.ts'
import { enterByKey } from '../sign-in/by-key.ts'
import { findPasted } from '../sign-in/key.ts'
import { contextOf, isMessageKey, type RefusalContext, toDetails } from '../verdict/refusal.ts'
import { appVerdict, factsOf, verdict as verdictOf } from '../verdict/verdict.ts'
import { endFieldsOf } from './session.ts'

interface Validation {
  verdict: Verdict
  /** The owner's reason for a refusal. */
  reason: string | null
  context?: RefusalContext
}

interface ValidateCall {
  /** As it was sent. */
  licenseKey: string
  machine: Machine | undefined
  address: string
  activate: boolean
  /** Reads the facts again, or those of another key. */
  read(key?: string): Promise<LicenseFacts | undefined> | LicenseFacts | undefined
}

/** Checks whether a key can be used now; writes nothing except a miss, and the activation if it is asked for. */
export async function validate(
  deps: ProgramDeps,
  sent: LicenseFacts,
  { licenseKey, machine, address, activate, read }: ValidateCall,
): Promise<Validation> {
  const { app } = sent
  const appRefusal = appVerdict(app)
  if (appRefusal) return refusal(appRefusal)
  await refuseGuesses(deps, sent, address)
  // The key in a sentence: a miss is counted first, as concurrent guesses would all see the count before it.
  const pasted = sent.key ? undefined : await findPasted(deps, app.id, { licenseKey, address })
  const facts = pasted ? ((await read(pasted.key)) ?? sent) : sent
  const { key } = facts
  if (!key) return refusal('keyNotFound')
  const seen = await judge(deps, facts, { machine, address, activate })
  if (!activate || !seen.machine || seen.isSettled || seen.verdict.code !== undefined) return seen
  try {
    await activateKey(deps, facts, key.id, { machine: seen.machine, address })
  } catch (error) {
    if (!(error instanceof Problem) || !isMessageKey(error.code)) throw error
    const { code, reason } = error
    const verdict = { ...seen.verdict, ...withoutSuccess, code, details: seen.details }
    return { verdict, reason, context: contextOf(error) }
  }
  const after = (await read(pasted?.key)) ?? facts
  return judge(deps, after, { machine, address, activate: false })
}

const withoutSuccess = { valid: false, activated: false } as const

const refusal = (code: MessageKey): Validation => ({
  verdict: { ...withoutSuccess, code, license: null },
  reason: null,
})

/** Beyond the limit of unknown keys, an address can still use a key on a device that is bound to it. */
async function refuseGuesses(
  { attempts }: ProgramDeps,
  { app, key, device, misses }: LicenseFacts,
  address: string,
): Promise<void> {
  const waitMs = misses ? attempts.waitOf(keyFailures, misses) : 0
  if (waitMs > 0 && !device) throw rateLimited(waitMs)
  if (!key) await attempts.count(keyFailures, app.id, address)
  else if (!device) await attempts.recheck(keyFailures, app.id, address)
}

async function judge(
  deps: ProgramDeps,
  facts: LicenseFacts,
  { machine: sent, address, activate }: Pick<ValidateCall, 'machine' | 'address' | 'activate'>,
) {
  const { app, endUser } = facts
  const key = facts.key as NonNullable<LicenseFacts['key']>
  const now = deps.ctx.clock.now()
  const match = sent && (await matchOf(deps, facts, sent, now))
  const machine = match?.kind === 'placeholder' ? undefined : sent
  const device = { ...facts.devices, ...toDeviceFacts(machine, match) }
  const checked = factsOf(activate && machine ? 'activate' : 'validate', {
    app,
    endUser,
    key,
    caller: await judgeCaller(deps, app, callerOf(machine, address)),
    device,
    now,
  })
  const refused = verdictOf(checked)
  const license = {
    key: key.text,
    used: key.isUsed,
    username: endUser?.username ?? null,
    ...endFieldsOf(key, now),
    term: key.term,
  }
  const details = refused || activate ? toDetails(key, facts.devices, now) : undefined
  const verdict: Verdict = refused
    ? { valid: false, activated: device.isBound, code: refused.code, license, details }
    : { valid: true, activated: device.isBound, license }
  return {
    verdict,
    reason: refused?.reason ?? null,
    context: refused ? { facts: checked } : {},
    details,
    machine,
    /** Whether an activation would change nothing. */
    isSettled: match?.kind === 'bound' || match?.kind === 'known',
  }
}

/** Redeems an unused key, or binds the machine, like a sign-in by key. */
async function activateKey(
  deps: ProgramDeps,
  { app }: LicenseFacts,
  licenseId: string,
  sent: { machine: Machine; address: string },
): Promise<void> {
  const license = await findLicenseById(deps.ctx.db, app.id, licenseId)
  if (!license) return
  const device = await toDevice(deps, app, { ...sent, isSignIn: false })
  const signIn = {
    call: 'activate' as const,
    app,
    actor: toActor({ app, id: null }, sent.address),
    version: null,
    finish: async () => {},
  }
  await enterByKey(deps, signIn, license, device)
}

/** Reads the end user's devices only if the device that was read with the key does not decide. */
async function matchOf(
  { ctx }: ProgramDeps,
  { app, endUser, device, devices }: LicenseFacts,
  machine: Machine,
  now: number,
): Promise<Match | { kind: 'bound' }> {
  const isTwin = device !== null && app.deviceTolerance && differs(device.parts, machine.parts)
  if (device && !isTwin) return { kind: 'bound' }
  if (!endUser || devices.used === 0)
    return isPlaceholder(machine) ? { kind: 'placeholder' } : { kind: 'new', hasTwin: false }
  const wasRead = device === null && machine.hash === machine.sentHash
  const known = wasRead ? { exact: undefined } : undefined
  const match = await matchDevice(ctx.db, endUser.id, machine, app, now, known)
  const isFreed = 'device' in match && match.device.freed_until !== null
  return isFreed ? { kind: 'new', hasTwin: false } : match
}
