import { type Attention, endpoints, limits } from '@keyward/contract'
import { meets, type PersonActor } from '../../core/actor.ts'
import { day, dayNumber, toIso } from '../../core/clock.ts'
import { normalizeEmail } from '../../core/ids.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getAccount } from '../accounts/accounts.service.ts'
import { areRefusalsRising } from '../notifications/notifications.rules.ts'
import { readMailTerms } from '../owners/owners.service.ts'
import { remainingLicenses } from '../resellers/resellers.rules.ts'
import * as repo from './attention.repo.ts'

/** What waits for a person, as far as it may read it. */
export async function listAttention(
  ctx: Ctx,
  actor: PersonActor,
  { backupsFail }: { backupsFail: boolean },
): Promise<Attention[]> {
  const { lists } = ctx.database
  const now = ctx.clock.now()
  const found: Attention[] = []
  const account = await getAccount(ctx.db, actor.actorId)
  if (backupsFail && (await isOperator(account.email_normalized))) found.push({ kind: 'backups_fail' })
  if (actor.isOwner && !(await readMailTerms(ctx, lists, actor)).isConfirmed)
    found.push({ kind: 'address_unconfirmed', email: account.email })
  if (actor.permissions.has('licenses:read')) {
    const count = await repo.countWaitingOrders(lists, actor)
    if (count > 0) found.push({ kind: 'orders_waiting', count })
  }
  if (actor.apps === null && meets(actor, endpoints.webhooks.list.permission))
    for (const { id: _id, origin } of await repo.listPausedWebhooks(lists, actor))
      found.push({ kind: 'webhook_paused', _id, origin })
  if (actor.permissions.has('clients:read')) found.push(...(await listRising()))
  if (actor.permissions.has('resellers:read'))
    for (const { id: _id, email, ...counts } of await repo.listFullResellers(lists, actor))
      found.push({ kind: 'reseller_quota', _id, email, remaining: remainingLicenses(counts) })
  if (meets(actor, endpoints.apiKeys.list.permission))
    for (const { id: _id, name, expires_at } of await repo.listEndingKeys(lists, actor, now))
      found.push({ kind: 'api_key_ends', _id, name, expiresAt: toIso(Number(expires_at)) })
  return found

  async function isOperator(email: string): Promise<boolean> {
    const { mailTo } = ctx.config.backups
    return (
      (mailTo !== undefined && normalizeEmail(mailTo) === email) ||
      (actor.isOwner && (await repo.isOnlyVendor(lists)))
    )
  }

  /** Compares about the last 24 hours with the days of the week before. */
  async function listRising(): Promise<Attention[]> {
    const today = dayNumber(now)
    const rows = await repo.listRefusals(lists, actor, today - 8)
    const left = 1 - (now % day) / day
    return [...Map.groupBy(rows, ({ id }) => id)]
      .flatMap(([_id, days]) => {
        const [{ name, app_id: appId }] = days as [(typeof days)[number]]
        const on = (at: number) => Number(days.find((row) => Number(row.day) === at)?.n ?? 0)
        const recent = Math.round(on(today) + left * on(today - 1))
        const before = days.reduce((sum, row) => (Number(row.day) < today - 1 ? sum + Number(row.n) : sum), 0)
        const usual = Math.round(before / 7)
        const app = { _id, name, appId }
        return areRefusalsRising({ recent, usual })
          ? [{ kind: 'refusals_rise' as const, app, recent, usual }]
          : []
      })
      .slice(0, limits.attentionMax)
  }
}
