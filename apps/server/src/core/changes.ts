import type { Kysely } from 'kysely'
import { type Tx, transact } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

/** Whose things each transaction under way has changed. */
const changed = new WeakMap<Tx, Set<string>>()

/** Notes, where an act is written down, whom it concerns. Of a transaction that is taken back nobody hears. */
export function noteChange(tx: Tx, ownerId: string): void {
  changed.get(tx)?.add(ownerId)
}

/** A transaction; `announce` is told after its commit whose things it has changed. */
export async function transactAndTell<T>(
  db: Kysely<Tables>,
  work: (tx: Tx) => Promise<T>,
  announce: (ownerIds: ReadonlySet<string>) => void,
): Promise<T> {
  let owners = new Set<string>()
  const result = await transact(db, (tx) => {
    owners = new Set()
    changed.set(tx, owners)
    return work(tx)
  })
  if (owners.size > 0) announce(owners)
  return result
}
