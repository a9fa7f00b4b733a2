import type { Db, Tx } from '../../db/index.ts'
import type { Holder } from '../sessions/sessions.service.ts'

export const columnOf = ({ kind }: Pick<Holder, 'kind'>) =>
  kind === 'account' ? 'account_id' : 'reseller_id'

/** Whether a sign-in needs a second factor. The holder comes from a session or a proven password. */
export async function hasFactor(db: Db, holder: Holder): Promise<boolean> {
  const factor = await db
    .selectFrom('second_factors')
    .select('active')
    .where(columnOf(holder), '=', holder.id)
    .executeTakeFirst()
  return factor?.active === 1
}

/** Removes all factors with their recovery codes and unfinished sign-ins; false if there are none. */
export async function removeFactors(tx: Tx, holder: Holder): Promise<boolean> {
  const removed = await tx
    .deleteFrom('second_factors')
    .where(columnOf(holder), '=', holder.id)
    .returning('active')
    .executeTakeFirst()
  return removed?.active === 1
}
