import type { OwnerScope, PersonActor, VendorActor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import type { Db, Tx } from '../../db/index.ts'
import type { DataImportReportRow, DataImportRow } from '../../db/tables.ts'
import { listRowsAfter, lockImport } from './imports.repo.ts'

/** Another process goes on after this time without a slice. */
export const claimMs = minute

/** Another process has taken over, or the import was deleted. */
export class ClaimLost extends Error {}

interface Claim {
  claim: string
  now: number
  until: number
}

/** Whether an import of any owner waits for a process. */
export async function hasDue(db: Db, now: number): Promise<boolean> {
  const due = db.selectFrom('data_imports').select('id').where('claimed_until', '<=', now).limit(1)
  return (await due.executeTakeFirst()) !== undefined
}

/** `attempt` counts the processes that began to read its files. */
export type ClaimedImport = DataImportRow & { attempt: number }

/** Claims the import that waits for longest; those of owners with a running one come last. */
export async function claimImport(tx: Tx, { claim, now, until }: Claim): Promise<ClaimedImport | undefined> {
  const running = tx.selectFrom('data_imports').select('owner_id').where('claimed_until', '>', now)
  const busy = new Set((await running.limit(candidates).execute()).map((row) => row.owner_id))
  const due = await tx
    .selectFrom('data_imports')
    .select(['id', 'owner_id', 'claim', 'is_read'])
    .where('claimed_until', '<=', now)
    .orderBy('claimed_until')
    .orderBy('seq')
    .limit(candidates)
    .execute()
  const row = due.find((one) => !busy.has(one.owner_id)) ?? due[0]
  if (!row) return undefined
  const attempt = row.is_read === 0 && row.claim !== null ? Number.parseInt(row.claim, 10) + 1 : 1
  const claimed = await tx
    .updateTable('data_imports')
    .set({ claim: `${attempt}:${claim}`, claimed_until: until })
    .where('id', '=', row.id)
    .where('claimed_until', '<=', now)
    .returningAll()
    .executeTakeFirst()
  return claimed && { ...claimed, attempt }
}

const candidates = 100

/** An import of a call, which the server knows by its id alone; undefined once it has ended. */
export const findRunning = (db: Db, id: string): Promise<DataImportRow | undefined> =>
  db
    .selectFrom('data_imports')
    .selectAll()
    .where('id', '=', id)
    .where('claimed_until', 'is not', null)
    .executeTakeFirst()

/** Takes over an import that no other process works on; `own` names this process in its claims. */
export const takeOver = (tx: Tx, id: string, { claim, own, now, until }: Claim & { own: string }) =>
  tx
    .updateTable('data_imports')
    .set({ claim, claimed_until: until })
    .where('id', '=', id)
    .where((eb) =>
      eb.or([eb('claimed_until', '<=', now), eb('claim', 'is', null), eb('claim', 'like', `%${own}:%`)]),
    )
    .where('claimed_until', 'is not', null)
    .returningAll()
    .executeTakeFirst()

/** After the start of the only process: what an earlier one worked on is due at once. */
export async function releaseClaims(tx: Tx): Promise<void> {
  await tx
    .updateTable('data_imports')
    .set({ claimed_until: 0 })
    .where('claimed_until', 'is not', null)
    .execute()
}

/** Locks an import that this process works on. */
export async function lockClaimed(
  tx: Tx,
  scope: OwnerScope,
  { id, claim }: Pick<DataImportRow, 'id' | 'claim'>,
): Promise<DataImportRow> {
  const row = await lockImport(tx, scope, id)
  if (!row || row.claim !== claim || row.claimed_until === null) throw new ClaimLost('the import is not ours')
  return row
}

/** Who started stored work that the server goes on with later. It was allowed then; nothing more is allowed by this. */
export function actorOfStored(row: {
  owner_id: string
  actor_kind: string
  actor_id: string
  session_id: string
  address: string
}): VendorActor {
  const facts = {
    actorId: row.actor_id,
    ownerId: row.owner_id,
    address: row.address,
    apps: null,
    permissions: new Set<never>(),
    isOwner: false,
  }
  if (row.actor_kind === 'api_key') return { ...facts, kind: 'api_key', sessionId: null }
  return {
    ...facts,
    kind: row.actor_kind as PersonActor['kind'],
    role: 'viewer',
    sessionId: row.session_id,
  }
}

/** More rows than one unit has. */
const unitMost = 60

/** The units after a row, with about `size` rows together; fewer rows at the end. */
export async function listUnits(
  tx: Tx,
  { id, done }: Pick<DataImportRow, 'id' | 'done'>,
  size: number,
): Promise<DataImportReportRow[][]> {
  const rows = await listRowsAfter(tx, id, done, size + unitMost)
  const units: DataImportReportRow[][] = []
  let taken = 0
  for (const unit of Map.groupBy(rows, (row) => row.unit).values()) {
    if (taken >= size) break
    units.push(unit)
    taken += unit.length
  }
  return units
}
