import type { OwnerScope } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { never } from '../../db/stored-end.ts'
import type { ClientRow } from '../../db/tables.ts'
import { findActivationEnd, freeDevice, isDeviceOf } from './devices.access.ts'
import { freeAfterLease } from './leased-places.access.ts'

/**
 * Frees a device for its end user, whom the caller has locked. With `keepsLeasedPlace` it takes its place until its lease
 * ends. One that runs with an activation file cannot be freed.
 */
export async function freeOwnDevice(
  write: WriteTransaction,
  scope: OwnerScope,
  client: Pick<ClientRow, 'id' | 'app_id'>,
  { deviceId, keepsLeasedPlace }: { deviceId: string; keepsLeasedPlace: boolean },
): Promise<void> {
  const { tx, now } = write
  const activeUntil = await findActivationEnd(tx, deviceId, now)
  if (activeUntil !== undefined && (await isDeviceOf(tx, client.id, deviceId))) {
    const until = activeUntil === never ? null : toIso(activeUntil)
    throw problem('device_activated_offline', { details: { until } })
  }
  const heldUntil = keepsLeasedPlace ? await freeAfterLease(tx, scope, client.id, deviceId, now) : undefined
  if (heldUntil === undefined && !(await freeDevice(tx, scope, client.id, deviceId)))
    throw problem('not_found')
  write.record('device.freed', deviceId, { endUserId: client.id }, client.app_id)
}
