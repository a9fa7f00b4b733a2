import { sql } from 'kysely'
import { syntaxOf } from './engine.ts'
import type { Tx } from './tables.ts'

/**
 * Removes the network addresses of programs, and details that contain one of the texts (in lower case), from the records
 * about an object. The records stay.
 */
export async function forgetInRecords(
  tx: Tx,
  ownerId: string,
  targetId: string,
  texts: readonly string[],
): Promise<void> {
  const rows = await tx
    .selectFrom('audit')
    .select(['seq', 'actor_kind', 'address', 'detail'])
    .where('target_id', '=', targetId)
    .where(sql`coalesce(owner_id, '')`, '=', ownerId)
    .execute()
  const named = rows.filter(
    ({ actor_kind, address, detail }) =>
      (actor_kind === 'program' && address !== null) || includesAny(detail, texts),
  )
  for (const { seq, actor_kind, address, detail } of named) {
    await tx
      .updateTable('audit')
      .set({
        address: actor_kind === 'program' ? null : address,
        detail: includesAny(detail, texts) ? null : detail,
      })
      .where('seq', '=', seq)
      .execute()
    // No search finds it any more; PostgreSQL's index follows by itself.
    if (syntaxOf(tx).searchIndex !== 'trigrams')
      await sql`delete from audit_search where rowid = ${seq}`.execute(tx)
  }
}

/** Whether a text contains one of others, which are in lower case. */
export const includesAny = (text: string | null, others: readonly string[]): boolean => {
  const lower = text?.toLowerCase()
  return lower !== undefined && others.some((other) => lower.includes(other))
}
