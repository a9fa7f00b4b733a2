import { endpoints, errorFacts } from '@keyward/contract'
import { problem } from '../../core/problem.ts'
import { version } from '../../core/version.ts'
import { storageFailureOf } from '../../db/failure.ts'
import type { StorageTrouble } from '../../db/storage-room.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { toPricing } from '../payments/pricing.rules.ts'

const troubleTexts: Record<StorageTrouble, string> = {
  full: errorFacts('storage_full').message,
  read_only: 'The database is read-only.',
  standby_away: 'Commits wait for a synchronous standby of the database.',
  disk_failed: 'The disk did not store a write. Check the disk, then restart the server.',
}

export function systemRoutes(mount: Mount, { ctx, options: { draining } }: Parts): void {
  const { system } = endpoints
  const { payments, defaultPlan } = ctx.config
  const pricing = payments.mode === 'off' || defaultPlan === 'premium' ? null : toPricing(ctx.config)
  mount(system.health, 'public', async () => ({ status: 'up' as const }))
  mount(system.ready, 'public', async ({ query }) => {
    if (draining?.aborted) throw problem('unavailable', { message: 'The server is shutting down.' })
    await ctx.database.engine.probe().catch((error) => {
      throw storageFailureOf(error) ? error : problem('unavailable')
    })
    if (query.for === 'checks') return { status: 'ready' as const }
    const trouble = await ctx.database.room.findTrouble(ctx.db)
    if (trouble) throw problem('unavailable', { message: troubleTexts[trouble] })
    return { status: 'ready' as const }
  })
  mount(system.config, 'public', async () => ({
    version,
    publicUrl: ctx.config.publicUrl ?? null,
    registration: ctx.config.registration,
    passwordPolicy: ctx.config.passwordPolicy,
    passwordReset: ctx.config.passwordReset,
    payments: payments.mode,
    vpnRanges: ctx.vpn.isLoaded,
    development: ctx.config.development,
    pricing,
    links: ctx.config.links,
  }))
}
