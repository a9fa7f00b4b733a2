import { system } from '../../core/actor.ts'
import { inSlices, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { countOrder } from '../sales/sales.count.ts'
import { chosenOf } from './orders.choices.ts'
import * as repo from './orders.repo.ts'
import { placedOf, toldBy } from './orders.rules.ts'
import { salesOf } from './orders.sales.ts'
import { listFacts } from './shop-events.repo.ts'

/** Counts the orders of earlier versions, a few at a time, until the server ends. */
export const countEarlier = (ctx: Ctx, isEnding: () => boolean): Promise<number> =>
  inSlices(ctx, system, async (write, size) => {
    const ids = isEnding() ? [] : await repo.listUncounted(write.tx, size)
    for (const id of ids) await countOnce(write, id)
    return { found: ids.length }
  })

async function countOnce(write: WriteTransaction, id: string): Promise<void> {
  const { tx } = write
  const order = await repo.findLocked(tx, id)
  if (order?.counted !== 0) return
  const placed = placedOf(await listFacts(tx, id))
  await countOrder(write, order, salesOf(placed, toldBy(placed, chosenOf(order).banned)))
  await repo.updateOrder(tx, id, { counted: 1 })
}
