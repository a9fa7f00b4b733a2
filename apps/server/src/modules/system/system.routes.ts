import { endpoints } from '@keyward/contract'
import { sql } from 'kysely'
import type { Ctx } from '../../core/ctx.ts'
import { version } from '../../core/version.ts'
import type { Mount } from '../../http/mount.ts'

export function systemRoutes(mount: Mount, ctx: Ctx): void {
  const { system } = endpoints
  mount(system.health, 'public', async () => ({ status: 'up' as const }))
  mount(system.ready, 'public', async () => {
    await sql`select 1`.execute(ctx.db)
    return { status: 'ready' as const }
  })
  mount(system.config, 'public', async () => ({
    version,
    publicUrl: ctx.config.publicUrl ?? null,
    registration: ctx.config.registration,
    passwordPolicy: ctx.config.passwordPolicy,
    payments: ctx.config.payments.mode,
    links: ctx.config.links,
  }))
}
