import type { Tx } from '../../db/index.ts'
import type { ShopOrderRow } from '../../db/tables.ts'
import { chosenOf } from './orders.choices.ts'
import { placedOf, type ToldOrder, toldBy } from './orders.rules.ts'
import { listFacts } from './shop-events.repo.ts'

/** What was told of an order so far. */
export const readTold = async (
  tx: Tx,
  { id, chosen }: Pick<ShopOrderRow, 'id' | 'chosen'>,
): Promise<ToldOrder> => toldBy(placedOf(await listFacts(tx, id)), chosenOf({ chosen }).banned)
