import { sql } from 'kysely'
import { readRotation } from '../src/db/key-rotation/state.ts'
import { type OpenDatabase, openDatabase } from '../src/db/open.ts'
import { readKeyMeta } from '../src/db/secret-key.ts'

/** Every column with a value that looks sealed, as `table.column`, sorted. */
export async function sealedValuesIn({ db }: Pick<OpenDatabase, 'db'>): Promise<string[]> {
  const found: string[] = []
  for (const { name: table, columns } of await db.introspection.getTables()) {
    for (const { name: column, dataType } of columns) {
      if (!/text|char/i.test(dataType)) continue
      const { rows } = await sql<{
        value: string
      }>`select ${sql.ref(column)} as value from ${sql.table(table)}
        where ${sql.ref(column)} like 'v1.%'`.execute(db)
      if (rows.some(({ value }) => /^v1\.[\w-]{38,}$/.test(value))) found.push(`${table}.${column}`)
    }
  }
  return found.sort()
}

/** Reads what the database says of its keys, with a connection of its own. */
export async function keysIn(where: { url: string | undefined; dataDir: string }) {
  const database = openDatabase(where)
  try {
    const { fingerprint } = await readKeyMeta(database)
    return { fingerprint, rotation: await readRotation(database.db) }
  } finally {
    await database.close()
  }
}
