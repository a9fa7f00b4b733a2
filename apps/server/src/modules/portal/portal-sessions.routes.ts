import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as sessions from '../sessions/account-sessions.service.ts'
import { confirm } from './portal.sessions.ts'

export function portalSessionsRoutes(mount: Mount, ctx: Ctx, attempts: Attempts): void {
  const { portalSessions } = endpoints
  mount(portalSessions.list, 'reseller', async ({ actor }) => ({
    sessions: await sessions.listSessions(ctx, actor),
  }))
  mount(portalSessions.end, 'reseller', async ({ actor, params }) => {
    await sessions.endOneSession(ctx, actor, params.id)
    return {}
  })
  mount(portalSessions.endOthers, 'reseller', async ({ actor }) => {
    await sessions.endOtherSessions(ctx, actor)
    return {}
  })
  mount(portalSessions.confirm, 'reseller', async ({ actor, body, address }) => {
    await confirm(ctx, attempts, actor, { ...body, address })
    return {}
  })
}
