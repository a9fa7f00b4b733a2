import type { VendorActor } from '../../core/actor.ts'
import { includesAny } from '../../db/erasures.ts'
import { inSlices } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as deliveries from './deliveries.repo.ts'
import * as repo from './webhooks.repo.ts'

/** Empties the logs of a vendor's webhooks where they contain one of the texts, which are in lower case. */
export async function forgetInDeliveries(
  ctx: Ctx,
  actor: VendorActor,
  texts: readonly string[],
): Promise<void> {
  for (const { id } of await repo.listWebhooks(ctx.db, actor)) {
    await inSlices(ctx, actor, async ({ tx }, size, after = 0) => {
      const rows = await deliveries.listAfter(tx, id, after, size)
      const named = rows.filter((row) =>
        [row.body, row.detail, row.request, row.response].some((text) => includesAny(text, texts)),
      )
      await deliveries.emptyDeliveries(tx, named)
      return { found: rows.length, changed: named.length, mark: rows.at(-1)?.seq ?? after }
    })
  }
}
