import { type Device, limits, unlimited } from '@keyward/contract'
import { hour, toIso } from '../../../core/clock.ts'
import { problem, requireSession } from '../../../core/problem.ts'
import { listDevices } from '../../devices/devices.access.ts'
import { toDevice } from '../../devices/devices.service.ts'
import { freeOwnDevice as freeOwn } from '../../devices/own-devices.ts'
import { lockEndUser } from '../../end-users/end-users.access.ts'
import { updateEndUser } from '../../entitlements/end-user-rows.ts'
import { type EndUserFacts, type SessionFacts, toActor } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { allowedUser } from './session.ts'

/** The devices of the signed-in end user. */
export async function listOwnDevices(
  deps: ProgramDeps,
  session: SessionFacts,
  address: string,
): Promise<Device[]> {
  const { id } = await ownDevicesUser(deps, session, { call: 'devices', address })
  return (await listDevices(deps.ctx.db, id, limits.deviceListMax)).map(toDevice)
}

/** Frees a device of the signed-in end user, once its lease has ended; at most one within the cooldown. */
export async function freeOwnDevice(
  deps: ProgramDeps,
  session: SessionFacts,
  { deviceId, address }: { deviceId: string; address: string },
): Promise<void> {
  const endUser = await ownDevicesUser(deps, session, { call: 'freeDevice', address })
  const { app } = session
  await deps.ctx.tx(toActor(session, address), async (write) => {
    const { tx, now } = write
    const client = requireSession(await lockEndUser(tx, app, endUser.id))
    const until = (client.device_freed_at ?? 0) + app.deviceCooldownHours * hour
    if (client.device_freed_at !== null && until > now) {
      throw problem('device_cooldown', { details: { until: toIso(until) } })
    }
    const keepsLeasedPlace = endUser.devices.limit !== unlimited
    await freeOwn(write, app, client, { deviceId, keepsLeasedPlace })
    await updateEndUser(tx, app, client.id, { device_freed_at: now })
  })
}

/** The signed-in end user, if the app lets end users manage their devices. */
async function ownDevicesUser(
  deps: ProgramDeps,
  session: SessionFacts,
  call: { call: 'devices' | 'freeDevice'; address: string },
): Promise<EndUserFacts> {
  const { endUser } = await allowedUser(deps, session, call)
  if (!session.app.deviceSelfService) throw problem('device_self_service_off')
  return endUser
}
