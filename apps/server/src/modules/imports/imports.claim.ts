import type { OwnerScope } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import type { Tx } from '../../db/index.ts'
import type { DataImportReportRow, DataImportRow } from '../../db/tables.ts'
import { listRowsAfter, lockImport } from './imports.repo.ts'

/** Another process goes on after this time without a slice. */
export const claimMs = minute

/** Another process has taken over, or the import was deleted. */
export class ClaimLost extends Error {}

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
