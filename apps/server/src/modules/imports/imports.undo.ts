import { foundInScope, inSlices, isIn, lock, type Tx } from '../../db/index.ts'
import type { DataImportReportRow, DataImportRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { deleteEndUserRows } from '../entitlements/end-user-rows.ts'
import { deleteByIds, lockLicensesOf } from '../entitlements/license-rows.ts'
import { actorOfStored, claimMs, listUnits, lockClaimed } from './imports.claim.ts'
import * as repo from './imports.repo.ts'

/** Deletes what an import created, in slices; what was used since stays. */
export async function undoRows(ctx: Ctx, row: DataImportRow): Promise<void> {
  const actor = actorOfStored(row)
  await inSlices(ctx, actor, async (write, size) => {
    const { tx, now } = write
    const current = await lockClaimed(tx, actor, row)
    const units = await listUnits(tx, current, size)
    const removed = await findUnused(tx, row, units)
    const licenses = idsOf(removed, 'license_id')
    const clients = idsOf(removed, 'client_id')
    if (licenses.length > 0) {
      const deleted = await deleteByIds(tx, actor, licenses)
      if (deleted > 0) write.record('licenses.slice_deleted', row.app_id, { count: deleted }, row.app_id)
    }
    if (clients.length > 0) {
      const count = await deleteEndUserRows(tx, actor, clients)
      if (count > 0) write.record('end_users.slice_deleted', row.app_id, { count }, row.app_id)
    }
    const gone = new Set(removed)
    const rows = units.flatMap((unit) =>
      unit.map((one) => {
        if (one.outcome !== 'created') return one
        return { ...one, outcome: gone.has(unit) ? 'undone' : 'kept' } as const
      }),
    )
    await repo.replaceRows(tx, rows)
    await repo.updateImport(tx, actor, row.id, {
      done: current.done + rows.length,
      kept: current.kept + rows.filter((one) => one.outcome === 'kept').length,
      claimed_until: now + claimMs,
    })
    return { found: rows.length < size ? rows.length : size }
  })
}

const idsOf = (units: readonly DataImportReportRow[][], column: 'license_id' | 'client_id'): string[] => [
  ...new Set(units.flat().flatMap((row) => row[column] ?? [])),
]

/** The units whose end user has never signed in, and whose keys no one else has or had or was sold; locked. */
async function findUnused(
  tx: Tx,
  row: DataImportRow,
  units: readonly DataImportReportRow[][],
): Promise<DataImportReportRow[][]> {
  const scope = actorOfStored(row)
  const created = units.filter((unit) => unit.some((one) => one.outcome === 'created'))
  const licenseIds = idsOf(created, 'license_id').sort()
  const clientIds = idsOf(created, 'client_id').sort()
  if (licenseIds.length === 0) return []
  await lockLicensesOf(tx, scope, { licenses: licenseIds })
  await lock.ahead(tx, () =>
    lock.all(
      tx,
      tx
        .selectFrom('clients')
        .select('id')
        .where(isIn(tx, 'id', clientIds)),
    ),
  )
  // One query for each column: SQLite would scan all licenses for both.
  const licensesBy = (column: 'id' | 'client_id', ids: readonly string[]) =>
    tx
      .selectFrom('licenses')
      .select(['id', 'client_id', 'customer_id', 'used_at', 'created_at'])
      .where(isIn(tx, column, ids))
      .where(foundInScope(scope, 'licenses'))
      .execute()
  const licenses = [...(await licensesBy('id', licenseIds)), ...(await licensesBy('client_id', clientIds))]
  const users = await tx
    .selectFrom('clients')
    .select(['id', 'last_login_at', 'lease_until', 'activation_until', 'customer_id'])
    .where(isIn(tx, 'id', clientIds))
    .where(foundInScope(scope, 'clients'))
    .execute()
  const unitOf = new Map(
    created.flatMap((unit) =>
      [...idsOf([unit], 'license_id'), ...idsOf([unit], 'client_id')].map((id) => [id, unit] as const),
    ),
  )
  const kept = new Set<DataImportReportRow[] | undefined>()
  for (const { id, ...since } of users) {
    const isUsed = Object.values(since).some((value) => value !== null)
    if (isUsed) kept.add(unitOf.get(id))
  }
  for (const { id, client_id: client, customer_id: customer, used_at, created_at } of licenses) {
    const [unit, holder] = [unitOf.get(id), client === null ? unitOf.get(id) : unitOf.get(client)]
    if (unit !== holder) kept.add(unit).add(holder)
    // An import marks what was used before with the time at which it creates it.
    if (customer !== null || (used_at !== null && used_at !== created_at)) kept.add(unit)
  }
  return created.filter((unit) => !kept.has(unit))
}
