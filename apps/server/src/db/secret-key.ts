import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { createSeal, type Seal } from '../core/crypto.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Database } from './engine.ts'
import { publish, scratchIn, writeDurably } from './files.ts'
import { keyFile } from './sqlite/data-dir.ts'

export class SecretKeyError extends OperatorError {}

export const fingerprintName = 'secret_key_fingerprint'

/**
 * Opens the seal of this installation. An embedded database without SECRET_KEY uses a key file that the first start
 * creates. Throws when the database was encrypted with another key.
 */
export async function openSeal({ db }: Pick<Database, 'db'>, config: Config): Promise<Seal> {
  const row = await db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', fingerprintName)
    .executeTakeFirst()
  const seal = createSeal(config.secretKey ?? keyFromFile(join(config.dataDir, keyFile), row === undefined))
  if (!row) {
    await db
      .insertInto('meta')
      .values({ name: fingerprintName, value: seal.fingerprint })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
  }
  const known = await db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', fingerprintName)
    .executeTakeFirstOrThrow()
  if (known.value !== seal.fingerprint) {
    throw new SecretKeyError(
      'SECRET_KEY is not the key that this database was encrypted with. Nothing was changed.',
    )
  }
  return seal
}

function keyFromFile(path: string, mayMake: boolean): string {
  if (!existsSync(path)) {
    if (!mayMake) {
      throw new SecretKeyError(
        `The database is encrypted, and its key is missing: restore ${path} or set SECRET_KEY.`,
      )
    }
    // Sync the key to disk before anything is encrypted with it: a power failure must not lose it.
    const scratch = scratchIn(dirname(path))
    writeDurably(scratch, `${randomBytes(32).toString('base64url')}\n`)
    publish(scratch, path)
  }
  const key = readFileSync(path, 'utf8').trim()
  if (key === '') throw new SecretKeyError(`${path} is empty: restore the key or set SECRET_KEY.`)
  return key
}
