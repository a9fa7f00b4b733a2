import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { confirmIdentity, identityOptions } from '../second-factors/identity.service.ts'
import * as sessions from '../sessions/account-sessions.service.ts'
import { selfOf } from './account.factors.ts'
import { confirmPassword } from './account.service.ts'

export function accountSessionsRoutes(mount: Mount, factors: Parts): void {
  const { accountSessions } = endpoints
  const { ctx, attempts } = factors
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
  mount(accountSessions.confirmOptions, 'owner', ({ actor }) =>
    identityOptions(factors, selfOf(personOf(actor))),
  )
  mount(accountSessions.confirm, 'owner', async ({ actor, body, address }) => {
    const person = personOf(actor)
    await confirmIdentity(factors, person, selfOf(person), body, (password) =>
      confirmPassword(ctx, attempts, person, { path: 'password', password, address }),
    )
    return {}
  })
}
