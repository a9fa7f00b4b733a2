// ADR 97: what the database says of a rotation of the secret key, in rows of `meta`.
import type { Db } from '../tables.ts'

export const rotationName = 'secret_key_rotation'
const serverPrefix = 'secret_key_server:'

/** Only while a rotation is unfinished. */
export interface Rotation {
  /** Fingerprints of the keys. */
  from: string
  to: string
  /** `announced`: servers say whether they hold the new key. `sealing`: they seal with it, and all values are sealed anew. */
  phase: 'announced' | 'sealing'
  /** The process that works on it, which shows with each beat that it lives. */
  runner: string
  beat: number
}

/** What a running server says of a rotation. */
export interface ServerKeys {
  host: string
  /** The key that it was asked about. */
  to: string
  holds: boolean
  /** The fingerprint of the key that it seals with. */
  seals: string
  beat: number
}

export async function readRotation(db: Db): Promise<Rotation | undefined> {
  const row = await db.selectFrom('meta').select('value').where('name', '=', rotationName).executeTakeFirst()
  return row && JSON.parse(row.value)
}

/** Returns false if there is a rotation already. */
export async function insertRotation(tx: Db, rotation: Rotation): Promise<boolean> {
  const [row] = await tx
    .insertInto('meta')
    .values({ name: rotationName, value: JSON.stringify(rotation) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('name')
    .execute()
  return row !== undefined
}

/** Replaces the state unless it has changed since; returns whether it was replaced. */
export async function replaceRotation(tx: Db, before: Rotation, after: Rotation): Promise<boolean> {
  const [row] = await tx
    .updateTable('meta')
    .set({ value: JSON.stringify(after) })
    .where('name', '=', rotationName)
    .where('value', '=', JSON.stringify(before))
    .returning('name')
    .execute()
  if (row) return true
  // A commit whose answer was lost is repeated.
  const now = await readRotation(tx)
  return now?.runner === after.runner && now.beat === after.beat
}

/** Ends a rotation, and with it what servers said of it. */
export async function deleteRotation(tx: Db): Promise<void> {
  await tx.deleteFrom('meta').where('name', '=', rotationName).execute()
  await deleteServers(tx)
}

export async function deleteServers(tx: Db): Promise<void> {
  await tx.deleteFrom('meta').where('name', 'like', `${serverPrefix}%`).execute()
}

export async function putServer(tx: Db, id: string, keys: ServerKeys): Promise<void> {
  const value = JSON.stringify(keys)
  await tx
    .insertInto('meta')
    .values({ name: `${serverPrefix}${id}`, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

export async function deleteServer(tx: Db, id: string): Promise<void> {
  await tx.deleteFrom('meta').where('name', '=', `${serverPrefix}${id}`).execute()
}

/** What servers said of the rotation to this key, by their ids. */
export async function readServers(db: Db, to: string): Promise<Map<string, ServerKeys>> {
  const rows = await db.selectFrom('meta').selectAll().where('name', 'like', `${serverPrefix}%`).execute()
  const found = rows.map(({ name, value }): [string, ServerKeys] => [name, JSON.parse(value)])
  return new Map(found.filter(([, server]) => server.to === to))
}
