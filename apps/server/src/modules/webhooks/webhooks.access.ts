import { type OfOwner, type OwnerScope, system } from '../../core/actor.ts'
import { inSlices, type Tx } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { LostKey, LostKeyReport } from '../description.ts'
import { deleteSome } from './deliveries.repo.ts'
import * as repo from './webhooks.repo.ts'
import { appsOf, secretContext, urlContext } from './webhooks.service.ts'
import { newWebhookSecret } from './webhooks.signature.ts'

/** Removes an app that is deleted from the webhooks that name it; one that named no other is deleted. */
export async function removeAppFromWebhooks(
  tx: Tx,
  scope: OwnerScope,
  appId: string,
  now: number,
): Promise<void> {
  for (const row of await repo.listNaming(tx, scope, appId)) {
    const others = (appsOf(row) ?? []).filter((one) => one !== appId)
    const change =
      others.length > 0 ? { apps: JSON.stringify(others) } : { active: 0 as const, deleted_at: now }
    await repo.updateWebhook(tx, row.id, change)
  }
}

/** Stops the webhooks of a vendor account that the operator disables, or starts those again that it stopped. */
export async function switchWebhooks(tx: Tx, { ownerId }: OfOwner, isOn: boolean): Promise<void> {
  await tx
    .updateTable('webhooks')
    .set({ active: isOn ? 1 : 0, off_with_vendor: isOn ? 0 : 1 })
    .where('owner_id', '=', ownerId)
    .where('deleted_at', 'is', null)
    .where(isOn ? 'off_with_vendor' : 'active', '=', 1)
    .execute()
}

/** Deletes the logs of deleted webhooks in slices, then their rows. */
export async function tidyWebhooks(ctx: Pick<Ctx, 'db' | 'tx'>): Promise<void> {
  for (const id of await repo.listDeleted(ctx.db)) {
    await inSlices(ctx, system, async ({ tx }, size) => ({ found: await deleteSome(tx, id, size) }))
    await ctx.tx(system, ({ tx }) => repo.removeWebhook(tx, id))
  }
}

/** Pauses all webhooks, and replaces what a lost secret key sealed. */
export async function loseKey({ tx, seal }: LostKey): Promise<Pick<LostKeyReport, 'webhooks'>> {
  const rows = await tx
    .selectFrom('webhooks')
    .select(['id', 'origin', 'owner_id', 'secret_sealed', 'deleted_at'])
    .execute()
  for (const { id, origin, secret_sealed } of rows) {
    const secret = secret_sealed && seal.seal(newWebhookSecret(), secretContext(id))
    await tx
      .updateTable('webhooks')
      .set({ url_sealed: seal.seal(`${origin}/`, urlContext(id)), secret_sealed: secret, active: 0 })
      .set({ previous_sealed: null, previous_until: 0, off_with_vendor: 0, pause_reason: null })
      .where('id', '=', id)
      .execute()
  }
  const shown = rows.filter(({ deleted_at }) => deleted_at === null)
  return { webhooks: shown.map(({ id, origin, owner_id }) => ({ id, origin, vendor: owner_id })) }
}
