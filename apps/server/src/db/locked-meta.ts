import { lock } from './statements.ts'
import type { Tx } from './tables.ts'

/** Reads a value and locks it until the transaction ends; stores `first` where there is none. */
export async function lockMeta(tx: Tx, name: string, first: string): Promise<string> {
  await tx
    .insertInto('meta')
    .values({ name, value: first })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await lock(
    tx,
    tx.selectFrom('meta').select('value').where('name', '=', name),
  ).executeTakeFirstOrThrow()
  return row.value
}
