import { unlimited } from '@keyward/contract'
import { newId } from '../../../core/ids.ts'
import { Problem, problem } from '../../../core/problem.ts'
import { trialStarts, trialsOfApp } from '../../../service/attempts.ts'
import { reserveLicenses } from '../../apps/apps.access.ts'
import { type Machine, marksOf } from '../../devices/devices.rules.ts'
import { draftOf, findTrialType } from '../../license-types/license-types.access.ts'
import { findFirstLicenseOf } from '../../licenses/licenses.access.ts'
import { issueLicenses } from '../../licenses/licenses.issue.ts'
import { getLimits } from '../../owners/owners.service.ts'
import type { SessionFacts } from '../facts/facts.ts'
import { because, behindProblem } from '../verdict/refusal.ts'
import { redeemForNewUser } from './new-user.ts'
import type { ProgramDeps, SignedInUser } from './service.ts'
import { type Entry, enter, entryOf, type SignInDevice, toDevice } from './sign-in.ts'
import { addMarks, findTrial, hasRoomForMarks } from './trial.repo.ts'

interface TrialCall {
  machine: Machine
  type?: string | undefined
  email?: string | undefined
  address: string
}

/** Starts the only trial of a device, or signs in to it while it runs. */
export async function startTrial(
  deps: ProgramDeps,
  session: SessionFacts,
  call: TrialCall,
): Promise<SignedInUser> {
  const { app } = session
  const { ctx, attempts } = deps
  const device = await toDevice(deps, app, call)
  const entry = entryOf(session, call.address)
  const marks = marksOf(call.machine)
  const running = await findTrial(ctx.db, app.id, marks)
  if (running !== undefined) return resume(deps, entry, running, device, marks)
  if (device.caller.blocked) throw problem('hwidBlacklisted', device.caller.blocked)
  if (device.caller.isRefusedVpn) throw problem('vpnBlocked')
  await attempts.count(trialStarts, app.id, call.address)
  await attempts.count(trialsOfApp, app.id)
  const { maxLicensesPerApp } = await getLimits(ctx, app)
  const id = newId('usr')
  const begin = ctx.tx(entry.actor, async (write) => {
    const { tx, now } = write
    if (!(await addMarks(tx, app.id, marks, { clientId: id, now }))) throw isTaken
    const type = await findTrialType(tx, app, app.id, call.type)
    const isFree = maxLicensesPerApp === unlimited
    if (!isFree && !(await reserveLicenses(tx, app, app.id, 1, maxLicensesPerApp, now))) {
      throw problem('plan_limit_reached')
    }
    const draft = await draftOf(tx, app, app.id, type.id, now)
    const issuer = { ownerId: app.ownerId, appId: app.id, now }
    const [license] = await issueLicenses(tx, issuer, [draft])
    if (!license) throw problem('internal')
    write.record('licenses.created', app.id, { count: 1, ids: [license.id] })
    const newUser = { id, username: license.key, passwordHash: null, email: call.email ?? null, device }
    return entry.finish(write, await redeemForNewUser(write, app, license.id, newUser), true)
  })
  return begin.catch(async (error: unknown) => {
    // A concurrent call from the same device was first.
    const first = error === isTaken ? await findTrial(ctx.db, app.id, marks) : undefined
    if (first === undefined) throw error
    return resume(deps, entry, first, device, marks)
  })
}

/** Rolls a new trial back. */
const isTaken = problem('trialUsed')

/** Signs in to a trial unless it has ended; later changes of the device are recognized too. */
async function resume<T>(
  { ctx }: ProgramDeps,
  entry: Entry<T>,
  clientId: string,
  device: SignInDevice,
  marks: readonly string[],
): Promise<T> {
  const { app } = entry
  try {
    return await ctx.tx(entry.actor, async (write) => {
      const { tx, now } = write
      if (!(await findFirstLicenseOf(tx, app.id, clientId))) throw problem('trialUsed')
      const result = await enter(write, entry, clientId, device)
      if (await hasRoomForMarks(tx, clientId)) await addMarks(tx, app.id, marks, { clientId, now })
      return result
    })
  } catch (error) {
    const hasEnded = error instanceof Problem && ['noActiveSubs', 'trialUsed'].includes(error.code)
    if (!hasEnded) throw error
    if (device.caller.blocked) throw problem('hwidBlacklisted', device.caller.blocked)
    const { details } = error
    throw because(problem('trialUsed', details && { details }), {
      ...behindProblem(error),
      endUserId: clientId,
    })
  }
}
