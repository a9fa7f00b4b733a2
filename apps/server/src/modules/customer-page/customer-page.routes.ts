import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { requestLink } from './customer-mails.ts'
import { activateOffline } from './customer-offline.ts'
import * as service from './customer-page.service.ts'
import { setPassword } from './customer-password.ts'
import { describeSelf, freeDevice, listDevices } from './customer-self.ts'

export function customerPageRoutes(mount: Mount, deps: Parts): void {
  const { customerPage } = endpoints
  const { ctx } = deps
  mount(customerPage.get, 'public', async ({ params }) =>
    service.toPage(ctx, await service.getPage(ctx.db, params.appId)),
  )
  mount(customerPage.logo, 'public', ({ params }) => service.getLogo(ctx, params.appId, params.digest))
  mount(customerPage.login, 'public', ({ params, body, address }) =>
    service.signIn(deps, params.appId, { ...body, address }),
  )
  mount(customerPage.mail, 'public', async ({ params, body, address }) => {
    await requestLink(deps, params.appId, { ...body, address })
    return {}
  })
  mount(customerPage.me, 'customer', ({ actor, query }) => describeSelf(deps, actor, query.locale))
  mount(customerPage.devices, 'customer', async ({ actor }) => ({ devices: await listDevices(deps, actor) }))
  mount(customerPage.freeDevice, 'customer', async ({ actor, params }) => {
    await freeDevice(deps, actor, params.id)
    return {}
  })
  mount(customerPage.setPassword, 'customer', async ({ actor, body }) => {
    await setPassword(deps, actor, body)
    return {}
  })
  mount(customerPage.activateOffline, 'customer', ({ actor, body }) =>
    activateOffline(deps, actor, body.request),
  )
  mount(customerPage.logout, 'customer', async ({ actor }) => {
    await service.signOut(deps, actor)
    return {}
  })
}
