import { type DeviceUse, limits, type OwnersDevice } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import { never } from '../../db/stored-end.ts'
import type { DeviceRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { freeDevice, listActivationEnds, listDevices, listDevicesOfMany } from '../devices/devices.access.ts'
import { deviceLimit } from '../devices/devices.rules.ts'
import { toDevice } from '../devices/devices.service.ts'
import { freeLeasedSeats } from '../devices/leased-places.access.ts'
import { rightsOf } from '../entitlements/terms.rules.ts'
import { findLicenseById } from '../licenses/licenses.access.ts'
import { lockEndUser } from './end-users.access.ts'
import { findEndUser } from './end-users.repo.ts'

export async function listEndUserDevices(
  ctx: Ctx,
  scope: OwnerScope,
  id: string,
): Promise<DeviceUse & { devices: OwnersDevice[] }> {
  const client = await findEndUser(ctx.db, scope, id)
  if (!client) throw problem('not_found')
  const license =
    client.license_id === null ? undefined : await findLicenseById(ctx.db, client.app_id, client.license_id)
  const devices = await listDevices(ctx.db, id, limits.devicesMax)
  const limit = deviceLimit(rightsOf(license, client, ctx.clock.now()))
  return { devices: await withOffline(ctx, [id], devices), used: client.device_count, limit }
}

/** Up to `most` devices of end users, those seen last first. */
export async function listDevicesOf(
  ctx: Ctx,
  scope: OwnerScope,
  endUsers: readonly { _id: string; username: string }[],
  most: number,
) {
  const byId = new Map(endUsers.map(({ _id, username }) => [_id, { _id, username }]))
  const ids = [...byId.keys()]
  if (ids.length === 0) return []
  const rows = await listDevicesOfMany(ctx.db, scope, ids, most)
  const devices = await withOffline(ctx, ids, rows)
  return devices.flatMap((device, at) => {
    const endUser = byId.get(rows[at]?.client_id ?? '')
    return endUser ? [{ ...device, client: endUser }] : []
  })
}

async function withOffline(
  ctx: Ctx,
  clientIds: readonly string[],
  devices: readonly DeviceRow[],
): Promise<OwnersDevice[]> {
  const now = ctx.clock.now()
  const ends = await listActivationEnds(ctx.db, clientIds, now)
  return devices.map((device) => ({
    ...toDevice(device),
    offline: toOffline(device.lease_until, ends.get(device.id), now),
  }))
}

function toOffline(lease: number | null, file: number | undefined, now: number): OwnersDevice['offline'] {
  if (file !== undefined && file >= (lease ?? 0)) {
    return { until: file === never ? null : toIso(file), by: 'file' }
  }
  return lease !== null && lease > now ? { until: toIso(lease), by: 'lease' } : null
}

export const freeEndUserDevice = (
  ctx: Ctx,
  actor: VendorActor,
  { id, deviceId }: { id: string; deviceId: string },
): Promise<void> =>
  ctx.tx(actor, async (write) => {
    const client = await lockEndUser(write.tx, actor, id)
    if (!client) throw problem('not_found')
    await freeLeasedSeats(write.tx, actor, [id], deviceId)
    if (!(await freeDevice(write.tx, actor, id, deviceId))) throw problem('not_found')
    write.record('device.freed', deviceId, { endUserId: id }, client.app_id)
  })
