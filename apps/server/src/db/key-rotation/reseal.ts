// ADR 97: seals the values of one column anew, in slices.
import { type RawBuilder, sql } from 'kysely'
import type { Seal } from '../../core/crypto.ts'
import type { Db } from '../tables.ts'

/** A row's key and what its context needs. */
export type SealedRow = Record<string, string | number | null>

/** A column that holds sealed values. */
export interface SealedColumn {
  table: string
  column: string
  /** The columns of the primary key. */
  keys: readonly [string] | readonly [string, string]
  /** Other columns that the context needs. */
  needs?: readonly string[]
  /** What the value is bound to. */
  context(row: SealedRow): string
  /** How many rows are read at once; fewer for long values. */
  atOnce?: number
}

/** Values of a column that a key has not sealed yet, with the place to go on from. */
export interface Slice {
  found: { row: SealedRow; sealed: string; plain: string | undefined }[]
  last: SealedRow | undefined
}

const rowsAtOnce = 100

/** Reads the next rows, and opens those values that `target` has not sealed. */
export async function readSlice(
  db: Db,
  of: SealedColumn,
  after: SealedRow | undefined,
  { target, opener }: { target: Seal; opener: Seal },
): Promise<Slice> {
  const { table, column, keys, needs = [], atOnce = rowsAtOnce } = of
  const columns = [...keys, ...needs].map((name) => sql.ref(name))
  const { rows } = await sql<SealedRow & { sealed_value: string }>`select ${sql.join(columns)},
    ${sql.ref(column)} as sealed_value from ${sql.table(table)}
    where ${sql.ref(column)} is not null and ${after ? isAfter(keys, after) : sql`1 = 1`}
    order by ${sql.join(keys.map((key) => sql.ref(key)))} limit ${atOnce}`.execute(db)
  const found = rows.flatMap(({ sealed_value: sealed, ...row }) => {
    const context = of.context(row)
    if (opens(target, sealed, context) !== undefined) return []
    return [{ row, sealed, plain: opens(opener, sealed, context) }]
  })
  return { found, last: rows.length < atOnce ? undefined : rows.at(-1) }
}

function isAfter(keys: SealedColumn['keys'], row: SealedRow): RawBuilder<boolean> {
  const [first, second] = keys.map((key) => ({ name: sql.ref(key), value: row[key] ?? null }))
  if (!first) throw new Error('a table without a key')
  if (!second) return sql`${first.name} > ${first.value}`
  return sql`${first.name} >= ${first.value}
    and (${first.name} > ${first.value} or ${second.name} > ${second.value})`
}

/** Undefined if it cannot open the value. */
function opens(seal: Seal, sealed: string, context: string): string | undefined {
  try {
    return seal.open(sealed, context)
  } catch {
    return undefined
  }
}

/** Stores the value as `target` seals it, unless it has changed since it was read. */
export async function reseal(
  tx: Db,
  of: SealedColumn,
  { row, sealed, plain }: { row: SealedRow; sealed: string; plain: string },
  target: Seal,
): Promise<void> {
  const same = [...of.keys, ...(of.needs ?? [])].map(
    (name) => sql`${sql.ref(name)} is not distinct from ${row[name] ?? null}`,
  )
  const next = target.seal(plain, of.context(row))
  await sql`update ${sql.table(of.table)} set ${sql.ref(of.column)} = ${next}
    where ${sql.join(same, sql` and `)} and ${sql.ref(of.column)} = ${sealed}`.execute(tx)
}
