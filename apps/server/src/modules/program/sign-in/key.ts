import { problem, rateLimited } from '../../../core/problem.ts'
import type { LicenseRow } from '../../../db/tables.ts'
import { toTypedKey } from '../../../db/typed-keys.ts'
import { keyFailures } from '../../../service/attempts.ts'
import { findByHash } from '../../devices/devices.access.ts'
import type { Machine } from '../../devices/devices.rules.ts'
import { findLicenseByKey } from '../../licenses/licenses.access.ts'
import type { SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { withContext } from '../verdict/refusal.ts'

export interface SentKey {
  licenseKey: string
  machine: Machine | undefined
  address: string
}

/**
 * Finds a key of the app; unknown keys count against the address. Beyond the limit, an address can still use keys
 * together with the hardware id bound to them, so that one guesser does not lock out a whole office.
 */
export async function findKey(
  { ctx, attempts }: ProgramDeps,
  { app }: SessionFacts,
  { licenseKey, machine, address }: SentKey,
): Promise<LicenseRow> {
  const license = await findLicenseByKey(ctx.db, app.id, toTypedKey(licenseKey))
  const waitMs = await attempts.readWait(keyFailures, app.id, address)
  if (waitMs > 0) {
    const isBound =
      machine && license?.client_id && (await findByHash(ctx.db, license.client_id, machine.hash))
    if (!isBound) throw rateLimited(waitMs)
  } else if (license) {
    await attempts.recheck(keyFailures, app.id, address)
  }
  if (license) return license
  await attempts.count(keyFailures, app.id, address)
  throw problem('keyNotFound')
}

/** The refusal of a key that is used; the owner sees by whom. */
export const keyUsed = (license: Pick<LicenseRow, 'client_id'>) =>
  withContext(problem('keyUsed'), { endUserId: license.client_id })
