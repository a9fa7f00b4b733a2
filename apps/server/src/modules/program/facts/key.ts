import { problem, rateLimited } from '../../../core/problem.ts'
import type { LicenseRow } from '../../../db/tables.ts'
import { toTypedKey } from '../../../db/typed-keys.ts'
import { keyFailures } from '../../../service/attempts.ts'
import { findByHash } from '../../devices/devices.access.ts'
import type { Machine } from '../../devices/devices.rules.ts'
import { findLicenseByKey } from '../../licenses/licenses.access.ts'
import type { ProgramDeps } from '../sign-in/service.ts'
import { because } from '../verdict/refusal.ts'
import type { SessionFacts } from './facts.ts'

export interface KeyCall {
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
  call: KeyCall,
): Promise<LicenseRow> {
  const license = await findLicenseByKey(ctx.db, app.id, toTypedKey(call.licenseKey))
  const waitMs = await attempts.readWait(keyFailures, app.id, call.address)
  if (waitMs > 0) {
    const { machine } = call
    const isBound =
      machine && license?.client_id && (await findByHash(ctx.db, license.client_id, machine.hash))
    if (!isBound) throw rateLimited(waitMs)
  } else if (license) {
    await attempts.recheck(keyFailures, app.id, call.address)
  }
  if (license) return license
  await attempts.count(keyFailures, app.id, call.address)
  throw problem('keyNotFound')
}

/** The refusal of a key that is used; the owner sees by whom. */
export const keyUsed = (license: Pick<LicenseRow, 'client_id'>) =>
  because(problem('keyUsed'), { endUserId: license.client_id })

export function refuseKey(license: LicenseRow, now: number): void {
  if (license.banned === 1) throw problem('keyBanned', { reason: license.ban_reason })
  if (license.expires_at <= now) throw problem('noActiveSubs')
}

export function refuseNewKey(license: LicenseRow, now: number): void {
  if (license.used === 1) throw keyUsed(license)
  refuseKey(license, now)
}
