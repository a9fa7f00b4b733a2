import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { deleteAccount } from './account.deletion.ts'
import { acceptInvitation } from './account.invitations.ts'
import * as vendors from './account.vendors.ts'

export function vendorsRoutes(mount: Mount, { ctx, attempts }: Parts): void {
  const { vendors: calls } = endpoints
  mount(calls.acceptInvitation, 'public', ({ body, address }) =>
    acceptInvitation(ctx, attempts, { ...body, address }),
  )
  mount(calls.list, 'owner', async ({ actor }) => ({
    vendors: await vendors.readVendors(ctx, personOf(actor)),
  }))
  mount(calls.open, 'owner', async ({ actor, body }) => ({
    token: await vendors.openVendor(ctx, attempts, personOf(actor), body._id),
  }))
  mount(calls.leave, 'owner', async ({ actor, params }) => {
    await vendors.leaveVendor(ctx, personOf(actor), params.id)
    return {}
  })
  mount(calls.deleteAccount, 'owner', async ({ actor, body, address }) => {
    await deleteAccount(ctx, attempts, personOf(actor), { ...body, address })
    return {}
  })
}
