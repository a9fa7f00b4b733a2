import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { day } from '../core/clock.ts'
import { createSeal, deriveDigestKey } from '../core/crypto.ts'
import { OperatorError } from '../core/operator-error.ts'
import { type RingKey, SealRing } from '../core/seal-ring.ts'
import type { Database } from './engine.ts'
import { matchOwnerOf, publish, scratchIn, writeDurably } from './files.ts'
import { keyFile } from './sqlite/data-dir.ts'

export class SecretKeyError extends OperatorError {}

export type KeySettings = Pick<Config, 'dataDir' | 'secretKey' | 'secretKeyPrevious'>

export const fingerprintName = 'secret_key_fingerprint'
/** The key of keyed hashes, sealed, once the secret key is not the first one any more. */
export const digestKeyName = 'secret_key_digest'
/** Exists while what a lost key sealed is being replaced. */
export const lostKeyName = 'secret_key_lost'
const digestContext = 'meta.secret_key_digest'

/** The key of a rotation, until it takes the place of `secret.key`. */
export const nextKeyFile = `${keyFile}.next`
/** Keys of before a rotation, each with the time of its end. */
export const oldKeyName = /^secret\.key\.until-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/
export const oldKeyFile = (now: number): string =>
  `${keyFile}.until-${new Date(now).toISOString().replace(/[:.]/g, '-')}`

/** Tokens live for a day; sessions that go on longer begin again. */
const tokensMs = day
const always = Number.POSITIVE_INFINITY

/** All keys of this installation, first the one that a new database is encrypted with. */
export function keysOf({ dataDir, secretKey, secretKeyPrevious }: KeySettings): RingKey[] {
  if (secretKey !== undefined) {
    const texts = secretKeyPrevious === undefined ? [secretKey] : [secretKey, secretKeyPrevious]
    return texts.map((text) => ({ text, tokensUntil: always }))
  }
  if (!existsSync(dataDir)) return []
  const old = readdirSync(dataDir).flatMap((name) => {
    const [, date, ...time] = oldKeyName.exec(name) ?? []
    if (date === undefined) return []
    const [hours, minutes, seconds, ms] = time
    return [{ name, tokensUntil: Date.parse(`${date}T${hours}:${minutes}:${seconds}.${ms}Z`) + tokensMs }]
  })
  const files = [{ name: keyFile, tokensUntil: always }, { name: nextKeyFile, tokensUntil: always }, ...old]
  return files.flatMap(({ name, tokensUntil }) => {
    const path = join(dataDir, name)
    return existsSync(path) ? [{ text: readKey(path), tokensUntil }] : []
  })
}

function readKey(path: string): string {
  const key = readFileSync(path, 'utf8').trim()
  if (key === '') throw new SecretKeyError(`${path} is empty: restore the key or set SECRET_KEY.`)
  return key
}

/** The key of this installation with this fingerprint. */
export const findKey = (settings: KeySettings, fingerprint: string): string | undefined =>
  keysOf(settings).find(({ text }) => createSeal(text).fingerprint === fingerprint)?.text

export async function readKeyMeta({ db }: Pick<Database, 'db'>) {
  // One statement: a rotation changes both in one commit.
  const rows = await db
    .selectFrom('meta')
    .selectAll()
    .where('name', 'in', [fingerprintName, digestKeyName, lostKeyName])
    .execute()
  const metaOf = (wanted: string) => rows.find(({ name }) => name === wanted)?.value
  return {
    fingerprint: metaOf(fingerprintName),
    sealedDigestKey: metaOf(digestKeyName),
    isReplacingLost: metaOf(lostKeyName) !== undefined,
  }
}

/** The key of keyed hashes, of an installation whose secret key is `secretKey`. */
export const digestKeyOf = (secretKey: string, sealed: string | undefined): Buffer =>
  sealed === undefined
    ? deriveDigestKey(secretKey)
    : Buffer.from(createSeal(secretKey).open(sealed, digestContext), 'base64url')

export const sealDigestKey = (secretKey: string, digestKey: Buffer): string =>
  createSeal(secretKey).seal(digestKey.toString('base64url'), digestContext)

/**
 * Opens the seal of this installation. An embedded database without SECRET_KEY uses a key file that the first start
 * creates. Throws when the database was encrypted with another key.
 */
export async function openSeal(database: Pick<Database, 'db'>, settings: KeySettings): Promise<SealRing> {
  const isNew = (await readKeyMeta(database)).fingerprint === undefined
  const keys = keysOf(settings)
  if (keys.length === 0) keys.push({ text: makeFirstKey(settings, isNew), tokensUntil: always })
  if (isNew) {
    await database.db
      .insertInto('meta')
      .values({ name: fingerprintName, value: createSeal(keys[0]?.text ?? '').fingerprint })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
  }
  const { fingerprint, sealedDigestKey, isReplacingLost } = await readKeyMeta(database)
  if (isReplacingLost)
    throw new SecretKeyError('Replacing a lost key is unfinished: run keyward keys replace-lost again.')
  const current = keys.find(({ text }) => createSeal(text).fingerprint === fingerprint)
  if (!current) {
    throw new SecretKeyError(
      'SECRET_KEY is not the key that this database was encrypted with. Nothing was changed.',
    )
  }
  return new SealRing(current, keys, digestKeyOf(current.text, sealedDigestKey))
}

function makeFirstKey({ dataDir }: KeySettings, mayMake: boolean): string {
  const path = join(dataDir, keyFile)
  if (!mayMake) {
    throw new SecretKeyError(
      `The database is encrypted, and its key is missing: restore ${path} or set SECRET_KEY.`,
    )
  }
  return makeKeyFile(path)
}

/** Writes a key and syncs it to disk before anything is encrypted with it: a power failure must not lose it. */
export function makeKeyFile(path: string, key = randomBytes(32).toString('base64url')): string {
  const scratch = scratchIn(dirname(path))
  writeDurably(scratch, `${key}\n`)
  matchOwnerOf(dirname(path), scratch)
  publish(scratch, path)
  return key
}
