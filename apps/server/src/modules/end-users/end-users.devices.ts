import { type Device, type DeviceUse, limits } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { problem } from '../../core/problem.ts'
import { freeDevice, listDevices } from '../devices/devices.access.ts'
import { deviceLimit } from '../devices/devices.rules.ts'
import { toDevice } from '../devices/devices.service.ts'
import { findLicenseById } from '../licenses/licenses.access.ts'
import { lockEndUser } from './end-users.access.ts'
import { findEndUser } from './end-users.repo.ts'

export async function listEndUserDevices(
  ctx: Ctx,
  scope: OwnerScope,
  id: string,
): Promise<DeviceUse & { devices: Device[] }> {
  const client = await findEndUser(ctx.db, scope, id)
  if (!client) throw problem('not_found')
  const license =
    client.license_id === null ? undefined : await findLicenseById(ctx.db, client.app_id, client.license_id)
  const devices = await listDevices(ctx.db, id, limits.devicesMax)
  return { devices: devices.map(toDevice), used: client.device_count, limit: deviceLimit(license) }
}

export const freeEndUserDevice = (
  ctx: Ctx,
  actor: VendorActor,
  { id, deviceId }: { id: string; deviceId: string },
): Promise<void> =>
  ctx.tx(actor, async (write) => {
    const client = await lockEndUser(write.tx, actor, id)
    if (!client || !(await freeDevice(write.tx, actor, id, deviceId))) throw problem('not_found')
    write.record('device.freed', deviceId, { endUserId: id })
  })
