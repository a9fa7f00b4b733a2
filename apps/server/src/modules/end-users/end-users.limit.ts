import { unlimited } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { Tx } from '../../db/index.ts'
import { reserveLicenses } from '../apps/apps.access.ts'

/** Rejects one more end user without a license when the plan's limit is reached. */
export async function reserveDirect(
  tx: Tx,
  scope: OwnerScope,
  appId: string,
  max: number,
  now: number,
): Promise<void> {
  if (!(await reserveLicenses(tx, scope, appId, 1, max, now))) throw planLimit(max)
}

/** Rejects extending end users without a stored license beyond the plan's limit. The caller has locked them. */
export async function reserveExtension(
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
  max: number,
  now: number,
): Promise<void> {
  if (max === unlimited) return
  const apps = await tx
    .selectFrom('clients as c')
    .select([
      'c.app_id',
      sql<number>`sum(
        case when c.expires_at <= ${now} and coalesce(c.activation_until, 0) <= ${now} then 1 else 0 end)`.as(
        'ended',
      ),
    ])
    .where('c.id', 'in', clientIds)
    .where('c.license_id', 'is', null)
    .where(sql<boolean>`not exists (select 1 from licenses l where l.client_id = c.id)`)
    .groupBy('c.app_id')
    .orderBy('c.app_id')
    .execute()
  for (const { app_id: appId, ended } of apps) {
    if (!(await reserveLicenses(tx, scope, appId, Number(ended), max, now))) throw planLimit(max)
  }
}

const planLimit = (max: number) =>
  problem('plan_limit_reached', {
    message: `Your plan allows ${max} licenses per app, and an end user without a license counts as one`,
  })
