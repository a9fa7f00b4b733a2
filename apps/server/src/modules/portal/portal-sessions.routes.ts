import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { confirmIdentity, identityOptions } from '../second-factors/identity.service.ts'
import * as sessions from '../sessions/account-sessions.service.ts'
import { selfOf } from './portal.factors.ts'
import { confirmPassword } from './portal.sessions.ts'

export function portalSessionsRoutes(mount: Mount, factors: Parts): void {
  const { portalSessions } = endpoints
  const { ctx, attempts } = factors
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
  mount(portalSessions.confirmOptions, 'reseller', ({ actor }) => identityOptions(factors, selfOf(actor)))
  mount(portalSessions.confirm, 'reseller', async ({ actor, body, address }) => {
    await confirmIdentity(factors, actor, selfOf(actor), body, (password) =>
      confirmPassword(ctx, attempts, actor, { password, address }),
    )
    return {}
  })
}
