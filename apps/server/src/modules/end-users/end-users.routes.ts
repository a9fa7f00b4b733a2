import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Ctx } from '../../service/ctx.ts'
import { freeEndUserDevice, listEndUserDevices } from './end-users.devices.ts'
import * as service from './end-users.service.ts'

export function endUsersRoutes(mount: Mount, ctx: Ctx): void {
  const { clients } = endpoints
  mount(clients.list, 'owner', ({ actor, query }) => service.listEndUsers(ctx, actor, query))
  mount(clients.get, 'owner', async ({ actor, params }) => ({
    client: await service.getEndUser(ctx, actor, params.id),
  }))
  mount(clients.createDirect, 'owner', async ({ actor, body }) => ({
    client: await service.createDirect(ctx, actor, body),
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
