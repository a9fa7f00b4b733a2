import { sql } from 'kysely'
import { expect } from 'vitest'
import { createSeal, type Seal } from '../src/core/crypto.ts'
import { readSlice, type SealedRow } from '../src/db/key-rotation/reseal.ts'
import { type OpenDatabase, openDatabase } from '../src/db/open.ts'
import { sealedColumnsOf } from '../src/db/owned-tables.ts'
import { openSeal, readKeyMeta } from '../src/db/secret-key.ts'
import { allEndpoints } from '../src/http/openapi.ts'
import { modules } from '../src/modules/index.ts'
import { resetRequestContext } from '../src/modules/password-resets/reset-requests.ts'
import { makeApp } from './actors.ts'
import { factorRecipes } from './recipes/factors.ts'
import { otherRecipes } from './recipes/others.ts'
import { ownerRecipes } from './recipes/owners.ts'
import { type Recipes, recipeOf, type World } from './recipes/world.ts'

const sealedColumns = sealedColumnsOf(modules)

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
    return await readKeyMeta(database)
  } finally {
    await database.close()
  }
}

/** A repeat gets its stored answer. */
export async function storedCall({ on, owner }: World) {
  const headers = { 'idempotency-key': 'one-call-of-this-test' }
  const { status, json } = await on.call('POST', '/apps', {
    token: owner.token,
    body: { name: 'Once' },
    headers,
  })
  expect(status).toBe(201)
  return json.data
}

/** Makes every call of the API that writes, then fills what they leave empty, or empty again. */
export async function fillSealed(world: World, seal: Seal): Promise<void> {
  const { on, owner, app } = world
  const recipes: Recipes = { ...ownerRecipes(world), ...otherRecipes(world), ...factorRecipes(world) }
  for (const { name, endpoint } of allEndpoints) {
    if (endpoint.method === 'GET' || !(name in recipes)) continue
    Object.assign(app, await makeApp(owner))
    const [, , prepare] = recipeOf(recipes, name)
    await (await prepare())()
  }
  await storedCall(world)
  const request = { id: 'rrq_1', network: '', due_at: 0, expires_at: Number.MAX_SAFE_INTEGER }
  await on.database.db
    .insertInto('reset_requests')
    .values({ ...request, sealed: seal.seal('{}', resetRequestContext(request.id)) })
    .execute()
  const [, , prepare] = recipeOf(recipes, 'imports.putFile')
  expect((await (await prepare())()).status).toBe(200)
  const known = new Set(await sealedValuesIn(on.database))
  for (const { table, column, keys, needs = [], context } of sealedColumns) {
    if (known.has(`${table}.${column}`)) continue
    const columns = [...keys, ...needs].map((name) => sql.ref(name))
    const { rows } =
      await sql<SealedRow>`select ${sql.join(columns)} from ${sql.table(table)} limit 1`.execute(
        on.database.db,
      )
    const [row] = rows
    if (!row) throw new Error(`no call adds a row to ${table}`)
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${seal.seal('{}', context(row))}
      where ${sql.ref(keys[0])} = ${row[keys[0]]}`.execute(on.database.db)
  }
}

/** Sealed values that this key does not open. */
export async function listUnreadable({ db }: Pick<OpenDatabase, 'db'>, key: string) {
  const seal = createSeal(key)
  const slices = sealedColumns.map((column) =>
    readSlice(db, { ...column, atOnce: 10_000 }, undefined, { target: seal, opener: seal }),
  )
  return (await Promise.all(slices)).flatMap(({ found }) => found)
}

/** Whether a server would start on an embedded database, and open every sealed value. */
export async function openAll(dataDir: string): Promise<void> {
  const database = openDatabase({ url: undefined, dataDir })
  try {
    const seal = await openSeal(database, { dataDir, secretKey: undefined, secretKeyPrevious: undefined })
    const opener = { target: seal, opener: seal }
    const slices = sealedColumns.map((column) => readSlice(database.db, column, undefined, opener))
    expect((await Promise.all(slices)).flatMap(({ found }) => found)).toEqual([])
  } finally {
    await database.close()
  }
}
