import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { freeEndUserDevice, listEndUserDevices } from './end-users.devices.ts'
import { mailPasswordLink, setPassword } from './end-users.password.ts'
import { addLicense, repairEndUser } from './end-users.repairs.ts'
import * as service from './end-users.service.ts'

export function endUsersRoutes(mount: Mount, parts: Parts): void {
  const { clients } = endpoints
  const { ctx } = parts
  mount(clients.list, 'owner', ({ actor, query }) => service.listEndUsers(ctx, actor, query))
  mount(clients.ids, 'owner', ({ actor, query }) => service.matchEndUsers(ctx, actor, query))
  mount(clients.get, 'owner', async ({ actor, params }) => ({
    client: await service.getEndUserWithGrants(ctx, actor, params.id),
  }))
  mount(clients.createDirect, 'owner', async ({ actor, body }) => ({
    client: await service.createDirect(ctx, actor, body),
  }))
  mount(clients.update, 'owner', async ({ actor, params, body }) => ({
    client: await repairEndUser(ctx, actor, params.id, body),
  }))
  mount(clients.setPassword, 'owner', async ({ actor, params, body }) => ({
    client:
      body.password === undefined
        ? await mailPasswordLink(parts, actor, params.id)
        : await setPassword(ctx, actor, params.id, body.password),
  }))
  mount(clients.addLicense, 'owner', async ({ actor, params, body }) => ({
    client: await addLicense(ctx, actor, params.id, body.license),
  }))
  mount(clients.toggleBan, 'owner', async ({ actor, params, body }) => ({
    client: await service.toggleBan(ctx, actor, params.id, body),
  }))
  mount(clients.togglePause, 'owner', async ({ actor, params, body }) => ({
    client: await service.togglePause(ctx, actor, params.id, body.paused),
  }))
  mount(clients.resetHwid, 'owner', async ({ actor, params }) => ({
    client: await service.resetHwid(ctx, actor, params.id),
  }))
  mount(clients.devices, 'owner', ({ actor, params }) => listEndUserDevices(ctx, actor, params.id))
  mount(clients.freeDevice, 'owner', async ({ actor, params }) => {
    await freeEndUserDevice(ctx, actor, params)
    return {}
  })
  mount(clients.extend, 'owner', async ({ actor, params, body }) => ({
    client: await service.extend(ctx, actor, { ...params, ...body }),
  }))
  mount(clients.remove, 'owner', async ({ actor, params }) => {
    await service.deleteEndUser(ctx, actor, params.id)
    return {}
  })
}
