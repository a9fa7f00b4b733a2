import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import type { Database } from '../db/open.ts'
import { createSeal, type Seal } from './crypto.ts'

export class SecretKeyError extends Error {}

const metaName = 'secret_key_fingerprint'

/**
 * The seal of this installation. On an embedded database without SECRET_KEY the key lies in the data
 * directory and is made on the first start. Throws when the database was sealed under another key.
 */
export async function openSeal({ db }: Pick<Database, 'db'>, config: Config): Promise<Seal> {
  const row = await db.selectFrom('meta').select('value').where('name', '=', metaName).executeTakeFirst()
  const seal = createSeal(
    config.secretKey ?? keyFromFile(join(config.dataDir, 'secret.key'), row === undefined),
  )
  if (!row) {
    await db
      .insertInto('meta')
      .values({ name: metaName, value: seal.fingerprint })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
  }
  const known = await db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', metaName)
    .executeTakeFirstOrThrow()
  if (known.value !== seal.fingerprint) {
    throw new SecretKeyError(
      'SECRET_KEY is not the key that this database was sealed with. Nothing was changed.',
    )
  }
  return seal
}

function keyFromFile(path: string, mayMake: boolean): string {
  if (!existsSync(path)) {
    if (!mayMake) {
      throw new SecretKeyError(
        `The database is sealed, and its key is missing: put ${path} back or set SECRET_KEY.`,
      )
    }
    writeDurably(path, `${randomBytes(32).toString('base64url')}\n`)
  }
  const key = readFileSync(path, 'utf8').trim()
  if (key === '') throw new SecretKeyError(`${path} is empty: put the key back, or set SECRET_KEY.`)
  return key
}

/** The key must be on disk before anything is sealed with it, or a power failure makes the database unreadable. */
function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  const directory = openSync(dirname(path), 'r')
  try {
    fsyncSync(directory)
  } catch {
    // Some systems cannot do this for a directory.
  } finally {
    closeSync(directory)
  }
}
