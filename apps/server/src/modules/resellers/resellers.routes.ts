import { endpoints } from '@keyward/contract'
import { WithMessage } from '../../core/answers.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './resellers.service.ts'

export function resellersRoutes(mount: Mount, { ctx }: Parts): void {
  const { resellers } = endpoints
  mount(resellers.list, 'owner', ({ actor, query }) => service.listResellers(ctx, actor, query))
  mount(resellers.get, 'owner', ({ actor, params }) => service.getResellerPage(ctx, actor, params.id))
  mount(resellers.create, 'owner', async ({ actor, body }) => {
    const made = await service.createReseller(ctx, actor, body)
    return new WithMessage(made, 'Reseller account has been created successfully.')
  })
  mount(resellers.update, 'owner', async ({ actor, params, body }) => {
    const reseller = await service.updateReseller(ctx, actor, params.id, body)
    return new WithMessage({ reseller }, updatedMessage(body))
  })
  mount(resellers.remove, 'owner', async ({ actor, params }) => {
    await service.deleteReseller(ctx, actor, params.id)
    return new WithMessage({}, 'Reseller has been permanently deleted.')
  })
  mount(resellers.endSessions, 'owner', async ({ actor, params }) => {
    await service.endResellerSessions(ctx, actor, params.id)
    return new WithMessage({}, 'The reseller has been signed out everywhere.')
  })
  mount(resellers.resetSecondFactor, 'owner', async ({ actor, params }) => {
    await service.resetSecondFactor(ctx, actor, params.id)
    return new WithMessage({}, 'Second factors of the reseller have been removed.')
  })
}

function updatedMessage(update: service.ResellerUpdate): string {
  if (update.licenseLimit !== undefined) return 'Reseller license limit has been updated successfully.'
  return update.active ? 'Reseller has been resumed.' : 'Reseller has been suspended.'
}
