import { endpoints, errorFacts } from '@keyward/contract'
import { sql } from 'kysely'
import type { Ctx } from '../../core/ctx.ts'
import { problem } from '../../core/problem.ts'
import { version } from '../../core/version.ts'
import { storageFailureOf } from '../../db/failure.ts'
import type { Mount } from '../../http/mount.ts'
import { toPricing } from '../payments/pricing.rules.ts'

async function canRead({ db }: Ctx): Promise<void> {
  await sql`select 1`.execute(db).catch((error) => {
    throw storageFailureOf(error) ? error : problem('unavailable')
  })
}

export function systemRoutes(mount: Mount, ctx: Ctx): void {
  const { system } = endpoints
  const pricing = ctx.config.payments.mode === 'off' ? null : toPricing(ctx.config)
  mount(system.health, 'public', async () => ({ status: 'up' as const }))
  mount(system.ready, 'public', async () => {
    const isFull = await canRead(ctx).then(() => ctx.database.room.isFull(ctx.db))
    if (isFull) throw problem('unavailable', { message: errorFacts('storage_full').message })
    return { status: 'ready' as const }
  })
  mount(system.config, 'public', async () => ({
    version,
    publicUrl: ctx.config.publicUrl ?? null,
    registration: ctx.config.registration,
    passwordPolicy: ctx.config.passwordPolicy,
    passwordReset: ctx.config.passwordReset,
    payments: ctx.config.payments.mode,
    vpnRanges: ctx.vpn.isLoaded,
    development: ctx.config.development,
    pricing,
    links: ctx.config.links,
  }))
}
