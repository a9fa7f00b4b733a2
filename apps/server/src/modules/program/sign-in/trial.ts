import { limits, unlimited } from '@keyward/contract'
import { newId } from '../../../core/ids.ts'
import { Problem, problem } from '../../../core/problem.ts'
import type { Db, Tx } from '../../../db/index.ts'
import { trialStarts, trialsOfApp } from '../../../service/attempts.ts'
import { reserveLicenses } from '../../apps/apps.access.ts'
import { isPlaceholder, type Machine, marksOf } from '../../devices/devices.rules.ts'
import { draftOf, findTrialType } from '../../license-types/license-types.access.ts'
import { issueLicenses } from '../../licenses/licenses.issue.ts'
import { getLimits } from '../../owners/owners.service.ts'
import type { SignedInUser } from '../checks/session.ts'
import { toDeviceFacts, toNewDevice } from '../facts/caller.ts'
import type { SessionFacts } from '../facts/facts.ts'
import { factsOfRows } from '../facts/rows.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { refuseBy } from '../verdict/refusal.ts'
import { enter, type SignInCall, type SignInDevice, sessionSignIn, toDevice } from './admit.ts'
import { redeemForNewUser } from './new-user.ts'

/** Starts the only trial of a device, or signs in to it while it runs. */
export async function startTrial(
  deps: ProgramDeps,
  session: SessionFacts,
  sent: { machine: Machine; type?: string | undefined; email?: string | undefined; address: string },
): Promise<SignedInUser> {
  const { app } = session
  const { ctx, attempts } = deps
  const device = await toDevice(deps, app, sent)
  const signIn = sessionSignIn('trial', session, sent.address)
  const marks = marksOf(sent.machine)
  const running = await findTrial(ctx.db, app.id, marks)
  if (running !== undefined) return resume(deps, signIn, running, device, marks)
  refuseBy(factsOfDevice(deps, signIn, toNewDevice(device), false))
  await attempts.count(trialStarts, app.id, sent.address)
  await attempts.count(trialsOfApp, app.id)
  const { maxLicensesPerApp } = await getLimits(ctx, app)
  const id = newId('usr')
  const begin = ctx.tx(signIn.actor, async (write) => {
    const { tx, now } = write
    if (!(await addMarks(tx, app.id, marks, { clientId: id, now }))) throw isTaken
    const type = await findTrialType(tx, app, app.id, sent.type)
    const isFree = maxLicensesPerApp === unlimited
    if (!isFree && !(await reserveLicenses(tx, app, app.id, 1, maxLicensesPerApp, now))) {
      throw problem('plan_limit_reached')
    }
    const draft = await draftOf(tx, app, app.id, type.id, now)
    const issuer = { ownerId: app.ownerId, appId: app.id, now }
    const [license] = await issueLicenses(tx, issuer, [draft])
    if (!license) throw problem('internal')
    write.record('licenses.created', app.id, { count: 1, ids: [license.id] }, app.id)
    const user = { id, username: license.key, passwordHash: null, email: sent.email ?? null, device }
    const admitted = await redeemForNewUser(write, signIn, license.id, user)
    return signIn.finish(write, admitted, true)
  })
  return begin.catch(async (error: unknown) => {
    // A concurrent call from the same device was first.
    const first = error === isTaken ? await findTrial(ctx.db, app.id, marks) : undefined
    if (first === undefined) throw error
    return resume(deps, signIn, first, device, marks)
  })
}

/** Rolls a new trial back. */
const isTaken = problem('trialUsed')

/** What is known of a trial without an end user: it was not started yet, or its end user was deleted. */
const factsOfDevice = (
  { ctx }: Pick<ProgramDeps, 'ctx'>,
  { app }: Pick<SignInCall<unknown>, 'app'>,
  { machine, caller }: SignInDevice,
  isTrialStarted: boolean,
) => {
  const device = toDeviceFacts(machine)
  // A trial belongs to a device, also where the app requires no hardware id.
  const asked = { ...app, requireHwid: true }
  return factsOfRows('trial', { app: asked, caller, device, isTrialStarted, now: ctx.clock.now() }).facts
}

/** Signs in to a trial unless it has ended; later changes of the device are recognized too. */
async function resume<T>(
  deps: ProgramDeps,
  signIn: SignInCall<T>,
  clientId: string,
  device: SignInDevice,
  marks: readonly string[],
): Promise<T> {
  const { app } = signIn
  const resumed = deps.ctx.tx(signIn.actor, async (write) => {
    const { tx, now } = write
    const result = await enter(write, signIn, clientId, device)
    if (!device.machine || isPlaceholder(device.machine)) return result
    if (await hasRoomForMarks(tx, clientId)) await addMarks(tx, app.id, marks, { clientId, now })
    return result
  })
  return resumed.catch((error: unknown) => {
    const isDeleted = error instanceof Problem && error.code === 'usernameNotFound'
    if (isDeleted) refuseBy(factsOfDevice(deps, signIn, device, true))
    throw error
  })
}

// The app comes from the resolved session of a call, so these functions take no other scope.

/** The end user whose trial began on a device with one of these marks; it may be deleted. */
export async function findTrial(
  db: Db,
  appId: string,
  marks: readonly string[],
): Promise<string | undefined> {
  const row = await db
    .selectFrom('trial_marks')
    .select('client_id')
    .where('app_id', '=', appId)
    .where('mark', 'in', marks)
    .orderBy('created_at', 'desc')
    .executeTakeFirst()
  return row?.client_id
}

/** Whether more of a trial's device may be remembered: a program can change what it reports without end. */
export async function hasRoomForMarks(tx: Tx, clientId: string): Promise<boolean> {
  const rows = await tx
    .selectFrom('trial_marks')
    .select('mark')
    .where('client_id', '=', clientId)
    .limit(limits.trialMarksMax)
    .execute()
  return rows.length < limits.trialMarksMax
}

/**
 * Marks a device as that of a trial. Returns false if it already had one of the marks: of concurrent callers exactly
 * one gets true. The marks are sorted, so that they wait for each other instead of deadlocking.
 */
export async function addMarks(
  tx: Tx,
  appId: string,
  marks: readonly string[],
  { clientId, now }: { clientId: string; now: number },
): Promise<boolean> {
  const added = await tx
    .insertInto('trial_marks')
    .values(marks.map((mark) => ({ app_id: appId, mark, client_id: clientId, created_at: now })))
    .onConflict((conflict) => conflict.columns(['app_id', 'mark']).doNothing())
    .returning('mark')
    .execute()
  return added.length === marks.length
}
