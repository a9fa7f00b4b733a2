import type { SealedColumn, SealedRow } from './key-rotation/reseal.ts'
import type { Tables } from './tables.ts'

/** What the owner of a table says of it. */
interface OwnedTable<Row> {
  /** The columns of its primary key, which all that follows needs. */
  key?: readonly (keyof Row & string)[]
  /** The column that says when a row expires. */
  expires?: keyof Row & string
  /** A deleted app leaves many rows here, which a cascade would delete in one statement. */
  isOfApp?: true
  /** Triggers count in its column `n`, and leave rows of zero. */
  isCount?: true
  /** What each sealed column is bound to, by the first column of the key and the row. */
  sealed?: { [Column in keyof Row & string]?: (key: string, row: SealedRow) => string }
  /** What that needs beside the key. */
  needs?: readonly (keyof Row & string)[]
  /** How many sealed values are read at once; fewer for long ones. */
  atOnce?: number
}

/** The tables that a module or a folder of the server owns: it alone inserts, updates and deletes their rows. */
export type OwnedTables = { readonly [Name in keyof Tables]?: OwnedTable<Tables[Name]> }

export interface TableOwner {
  tables?: OwnedTables
}

/** A table by its name. */
export interface NamedTable extends Omit<OwnedTable<Record<string, unknown>>, 'key'> {
  name: keyof Tables
  key: readonly string[]
}

export const tablesOf = (owners: readonly TableOwner[]): NamedTable[] =>
  owners.flatMap(({ tables = {} }) =>
    Object.entries(tables).map(([name, table]) => ({ key: [], ...table, name }) as NamedTable),
  )

/** Every column whose values the secret key seals. A test compares it with what a full database holds. */
export const sealedColumnsOf = (owners: readonly TableOwner[]): SealedColumn[] =>
  tablesOf(owners).flatMap(({ name: table, key: keys, sealed = {}, needs = [], atOnce }) =>
    Object.entries(sealed).map(([column, contextOf]) => ({
      ...{ table, column, keys: keys as SealedColumn['keys'], needs },
      ...(atOnce === undefined ? {} : { atOnce }),
      context: (row) => contextOf?.(String(row[keys[0] ?? ''] ?? ''), row) ?? '',
    })),
  )

const licenseCount = { isOfApp: true, isCount: true } as const

/** The tables that `db` owns. */
export const database: TableOwner = {
  tables: {
    meta: {},
    audit: {},
    audit_objects: {},
    audit_lists: {},
    license_counts: { ...licenseCount, key: ['app_id', 'bucket', 'used', 'banned'] },
    license_blocks: { ...licenseCount, key: ['app_id', 'block', 'used', 'banned'] },
    client_counts: { ...licenseCount, key: ['app_id', 'bucket', 'banned'] },
    client_blocks: { ...licenseCount, key: ['app_id', 'block', 'banned'] },
    license_places: { isOfApp: true, key: ['app_id', 'place'] },
    client_places: { isOfApp: true, key: ['app_id', 'place'] },
  },
}
