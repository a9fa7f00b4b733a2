import { endpoints } from '@keyward/contract'
import { WithMessage } from '../../core/answers.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { getErrorMessages, updateErrorMessages } from './apps.messages.ts'
import * as service from './apps.service.ts'

export function appsRoutes(mount: Mount, { ctx }: Parts): void {
  const { apps } = endpoints
  mount(apps.list, 'owner', ({ actor, query }) => service.listApps(ctx, actor, query))
  mount(apps.create, 'owner', async ({ actor, body }) => {
    const app = await service.createApp(ctx, actor, body.name)
    return new WithMessage({ app }, 'App created successfully')
  })
  mount(apps.get, 'owner', async ({ actor, params }) => ({
    app: await service.readApp(ctx, actor, params.id),
  }))
  mount(apps.update, 'owner', async ({ actor, params, body }) => {
    const app = await service.updateApp(ctx, actor, params.id, body)
    return new WithMessage({ app }, 'App updated successfully')
  })
  mount(apps.rotateSecret, 'owner', async ({ actor, params }) => ({
    app: await service.rotateSecret(ctx, actor, params.id),
  }))
  mount(apps.getErrorMessages, 'owner', ({ actor, params, query }) =>
    getErrorMessages(ctx, actor, params.id, query.locale),
  )
  mount(apps.updateErrorMessages, 'owner', ({ actor, params, query, body }) =>
    updateErrorMessages(ctx, actor, params.id, query.locale, body),
  )
  mount(apps.resetErrorMessages, 'owner', ({ actor, params, query }) =>
    updateErrorMessages(ctx, actor, params.id, query.locale, undefined),
  )
}
