import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import type { Mount } from '../../http/mount.ts'
import type { Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as sessions from '../sessions/account-sessions.service.ts'
import { confirm } from './account.service.ts'

export function accountSessionsRoutes(mount: Mount, ctx: Ctx, attempts: Attempts): void {
  const { accountSessions } = endpoints
  mount(accountSessions.list, 'owner', async ({ actor }) => ({
    sessions: await sessions.listSessions(ctx, personOf(actor)),
  }))
  mount(accountSessions.end, 'owner', async ({ actor, params }) => {
    await sessions.endOneSession(ctx, personOf(actor), params.id)
    return {}
  })
  mount(accountSessions.endOthers, 'owner', async ({ actor }) => {
    await sessions.endOtherSessions(ctx, personOf(actor))
    return {}
  })
  mount(accountSessions.confirm, 'owner', async ({ actor, body, address }) => {
    await confirm(ctx, attempts, personOf(actor), { ...body, address })
    return {}
  })
}
