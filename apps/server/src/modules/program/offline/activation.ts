import type { MessageKey } from '@keyward/contract'
import type { CustomerActor, VendorActor } from '../../../core/actor.ts'
import { toTypedKey } from '../../../core/ids.ts'
import { Problem, problem } from '../../../core/problem.ts'
import type { WriteTransaction } from '../../../db/index.ts'
import type { Ctx } from '../../../service/ctx.ts'
import type { ActivityLog } from '../../activity/activity.log.ts'
import type { BlockTables } from '../../blocklist/block-tables.ts'
import { findByHash } from '../../devices/devices.access.ts'
import { toOfflineMachine } from '../../devices/devices.rules.ts'
import { findLicenseByKey, findPastedLicense } from '../../licenses/licenses.access.ts'
import { endFieldsOf } from '../checks/session.ts'
import { judgeDevice } from '../facts/caller.ts'
import type { AppFacts, EndUserFacts } from '../facts/facts.ts'
import type { Admitted } from '../sign-in/admit.ts'
import { enterByKey } from '../sign-in/by-key.ts'
import { contextOf, isMessageKey, noteRefusal, refusedLater } from '../verdict/refusal.ts'
import { appVerdict } from '../verdict/verdict.ts'

/** A machine that the verdict lets in, and that is a device of the end user now. */
export interface AdmittedMachine {
  endUser: EndUserFacts
  /** The end that people see. */
  displayedEnd: string | null
  deviceId: string
  licenseId: string
}

/**
 * Admits a machine that is never online, and stores what the caller makes of it in the same transaction. The verdict is
 * that of a sign-in by key from the machine, whose address is unknown.
 */
export async function admitOfflineMachine<T>(
  { ctx, blocks }: { ctx: Ctx; blocks: BlockTables },
  { actor, app }: { actor: VendorActor | CustomerActor; app: AppFacts },
  request: { licenseKey: string; hwidHash: string },
  store: (write: WriteTransaction, admitted: AdmittedMachine) => Promise<T>,
): Promise<T> {
  const refusal = appVerdict(app)
  if (refusal) throw problem(refusal)
  const license =
    (await findLicenseByKey(ctx.db, app.id, toTypedKey(request.licenseKey))) ??
    (await findPastedLicense(ctx.db, app.id, request.licenseKey))
  if (!license) throw problem('keyNotFound')
  const machine = toOfflineMachine(request.hwidHash)
  const caller = await judgeDevice({ blocks }, app, machine.hash)
  const signIn = {
    call: 'offlineActivation' as const,
    app,
    actor,
    version: null,
    isOwner: true,
    finish: async (write: WriteTransaction, { endUser, hwidHash, facts }: Admitted) => {
      if (endUser.floating) throw problem('offline_floating')
      const device = hwidHash === null ? undefined : await findByHash(write.tx, endUser.id, hwidHash)
      // Without the hardware lock a machine gets in without a place; a file that nothing counts must not be made.
      if (!device) throw refusedLater('hwidMismatch', facts)
      const displayedEnd = endFieldsOf(endUser, write.now).expiresAt
      return store(write, { endUser, displayedEnd, deviceId: device.id, licenseId: license.id })
    },
  }
  return enterByKey({ ctx }, signIn, license, { machine, address: null, caller, isSignIn: false })
}

interface RefusedActivation {
  code: MessageKey
  details: object | undefined
  /** Explains the refusal; null in a flood of refusals. */
  reference: string | null
}

/** Notes in the activity log why a machine was refused; undefined for any other error. */
export function noteRefusedActivation(
  activity: ActivityLog,
  app: AppFacts,
  licenseKey: string,
  error: unknown,
): RefusedActivation | undefined {
  if (!(error instanceof Problem) || !isMessageKey(error.code)) return undefined
  const { code, details } = error
  const refused = { app, code, path: 'offline-activations', body: { licenseKey }, address: null }
  const reference = noteRefusal(activity, refused, contextOf(error))
  return { code, details, reference: reference ?? null }
}
