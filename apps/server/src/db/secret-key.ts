import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { day } from '../core/clock.ts'
import { createSeal, deriveDigestKey, type RingKey, SealRing } from '../core/crypto.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Database } from './engine.ts'
import { matchOwnerOf, publish, scratchIn, writeDurably } from './files.ts'
import { keyFile } from './sqlite/data-dir.ts'

export class SecretKeyError extends OperatorError {}

export type KeySettings = Pick<Config, 'dataDir' | 'secretKey' | 'secretKeyPrevious'>

export class UnfinishedRotationError extends SecretKeyError {
  constructor({ secretKey }: KeySettings) {
    const missing =
      secretKey === undefined
        ? `restore ${keyFile} and ${previousKeyFile}`
        : 'set SECRET_KEY and SECRET_KEY_PREVIOUS to its two keys'
    super(
      `A rotation is unfinished, and one of its keys is missing: ${missing}, then run keyward keys rotate.`,
    )
  }
}

export const fingerprintName = 'secret_key_fingerprint'
/** The key of keyed hashes, sealed, once the secret key is not the first one any more. */
export const digestKeyName = 'secret_key_digest'
/** Exists while what a lost key sealed is being replaced. */
export const lostKeyName = 'secret_key_lost'
/** From the moment when a new key seals until everything is sealed with it: the fingerprints of both keys, as JSON. */
export const rotationName = 'secret_key_rotation'
/** Followed by the id of a question: a running server that lacks the key of this fingerprint writes its host there. */
export const askedName = 'secret_key_asked:'
const digestContext = 'meta.secret_key_digest'

/** The key before `secret.key`. */
export const previousKeyFile = `${keyFile}.previous`
/** A new key, before it takes the place of `secret.key`. */
export const nextKeyFile = `${keyFile}.next`
/** Rotations of 1.1 left `secret.key.until-<time>`. */
const besideName = /^secret\.key\.(next|previous|until-.+)$/

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
  const beside = readdirSync(dataDir).filter((name) => besideName.test(name))
  return [keyFile, ...beside].flatMap((name) => {
    const path = join(dataDir, name)
    // A rotation may have renamed it meanwhile.
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    if (changedAt === undefined) return []
    return [{ text: readKey(path), tokensUntil: name === keyFile ? always : changedAt + tokensMs }]
  })
}

export function readKey(path: string): string {
  if (!existsSync(path)) throw new SecretKeyError(`${path} is missing: restore the key or set SECRET_KEY.`)
  const key = readFileSync(path, 'utf8').trim()
  if (key === '') throw new SecretKeyError(`${path} is empty: restore the key or set SECRET_KEY.`)
  return key
}

export const fingerprintOf = (key: string): string => createSeal(key).fingerprint

/** The key of this installation with this fingerprint. */
export const findKey = (settings: KeySettings, fingerprint: string): string | undefined =>
  keysOf(settings).find(({ text }) => fingerprintOf(text) === fingerprint)?.text

/** Fingerprints of two keys. */
export interface Rotation {
  from: string
  to: string
}

export type KeyMeta = Awaited<ReturnType<typeof readKeyMeta>>

export async function readKeyMeta({ db }: Pick<Database, 'db'>) {
  // One statement: a rotation changes several in one commit.
  const rows = await db.selectFrom('meta').selectAll().where('name', 'like', 'secret_key%').execute()
  const metaOf = (wanted: string) => rows.find(({ name }) => name === wanted)?.value
  const fingerprint = metaOf(fingerprintName)
  return {
    fingerprint,
    sealedDigestKey: metaOf(digestKeyName),
    isReplacingLost: metaOf(lostKeyName) !== undefined,
    unfinished: unfinishedIn(metaOf(rotationName), fingerprint),
    asked: rows.filter(({ name }) => name.startsWith(askedName)),
  }
}

/** A rotation that has begun to seal. 1.1 stored it before, too; then nothing had changed. */
export function unfinishedIn(stored: string | undefined, fingerprint: string | undefined) {
  const rotation: Rotation | undefined = stored === undefined ? undefined : JSON.parse(stored)
  return rotation?.to === fingerprint ? rotation : undefined
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
  if (keysOf(settings).length === 0) makeFirstKey(settings, isNew)
  if (isNew) {
    await database.db
      .insertInto('meta')
      .values({ name: fingerprintName, value: fingerprintOf(keysOf(settings)[0]?.text ?? '') })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
  }
  const { fingerprint = '', sealedDigestKey, isReplacingLost, unfinished } = await readKeyMeta(database)
  if (isReplacingLost)
    throw new SecretKeyError('Replacing a lost key is unfinished: run keyward keys replace-lost again.')
  const current = findKey(settings, fingerprint)
  if (current === undefined) {
    throw new SecretKeyError(
      'SECRET_KEY is not the key that this database was encrypted with. Nothing was changed.',
    )
  }
  if (unfinished && findKey(settings, unfinished.from) === undefined)
    throw new UnfinishedRotationError(settings)
  return new SealRing(fingerprint, () => keysOf(settings), digestKeyOf(current, sealedDigestKey))
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
