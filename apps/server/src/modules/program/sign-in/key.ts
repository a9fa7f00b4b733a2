import { toTypedKey } from '../../../core/ids.ts'
import { type Problem, problem, rateLimited } from '../../../core/problem.ts'
import type { LicenseRow } from '../../../db/tables.ts'
import { keyFailures } from '../../../service/attempts.ts'
import { findMachine } from '../../devices/devices.access.ts'
import type { Machine } from '../../devices/devices.rules.ts'
import { findLicenseByKey, findPastedLicense } from '../../licenses/licenses.access.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { withContext } from '../verdict/refusal.ts'

export interface SentKey {
  licenseKey: string
  machine: Machine | undefined
  address: string
}

/**
 * Finds a key of the app, also in a sentence; unknown keys count against the address. Beyond the limit, an address can still use keys
 * together with the hardware id bound to them, so that one guesser does not lock out a whole office.
 */
export async function findKey(
  { ctx, attempts }: Pick<ProgramDeps, 'ctx' | 'attempts'>,
  { app }: { app: { id: string } },
  { licenseKey, machine, address }: SentKey,
  /** May add an unknown key. */
  moveIn?: () => Promise<void>,
): Promise<LicenseRow> {
  const find = () => findLicenseByKey(ctx.db, app.id, toTypedKey(licenseKey))
  const license = await find()
  const waitMs = await attempts.readWait(keyFailures, app.id, address)
  if (waitMs > 0) {
    const isBound = machine && license?.client_id && (await findMachine(ctx.db, license.client_id, machine))
    if (!isBound) throw rateLimited(waitMs)
  } else if (license) {
    await attempts.recheck(keyFailures, app.id, address)
  }
  if (license) return license
  // Counted before anything else is waited for: concurrent guesses would all see the count before the first one.
  await attempts.count(keyFailures, app.id, address)
  const pasted = await findPasted({ ctx, attempts }, app.id, { licenseKey, address })
  if (pasted) return pasted
  if (moveIn) {
    await moveIn().catch(async (error: Problem) => {
      // Nobody was asked, so nobody knows whether the key is wrong.
      if (error.code === 'busy') await attempts.forget(keyFailures, app.id, address)
      throw error
    })
    const moved = await find()
    if (moved) {
      await attempts.forget(keyFailures, app.id, address)
      return moved
    }
  }
  throw problem('keyNotFound')
}

/** The only key of the app in a text that has more than a key; the miss that was counted for the text is taken back. */
export async function findPasted(
  { ctx, attempts }: Pick<ProgramDeps, 'ctx' | 'attempts'>,
  appId: string,
  { licenseKey, address }: Pick<SentKey, 'licenseKey' | 'address'>,
): Promise<LicenseRow | undefined> {
  const license = await findPastedLicense(ctx.db, appId, licenseKey)
  if (license) await attempts.forget(keyFailures, appId, address)
  return license
}

/** The refusal of a key that is used; the owner sees by whom. */
export const keyUsed = (license: Pick<LicenseRow, 'client_id'>) =>
  withContext(problem('keyUsed'), { endUserId: license.client_id })
