// ADR 97: the keys of a rotation, from the environment or from files of DATA_DIR.
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { createSeal } from '../../core/crypto.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { scratchIn, syncDirectory } from '../files.ts'
import {
  findKey,
  type KeySettings,
  makeKeyFile,
  nextKeyFile,
  oldKeyFile,
  oldKeyName,
  SecretKeyError,
} from '../secret-key.ts'
import { keyFile, lockDataDir } from '../sqlite/data-dir.ts'

export const fingerprintOf = (key: string): string => createSeal(key).fingerprint

/** Two keys of one installation. */
export interface KeyPair {
  from: string
  to: string
}

const isEmbedded = ({ secretKey }: KeySettings) => secretKey === undefined

/**
 * The keys of the rotation that is to begin or to go on. `current` is the fingerprint of the database, `unfinished` that of
 * the key that an earlier run rotates to.
 */
export function chooseKeys(
  settings: KeySettings,
  current: string,
  unfinished: { from: string; to: string } | undefined,
): KeyPair {
  if (unfinished) {
    const [from, to] = [findKey(settings, unfinished.from), findKey(settings, unfinished.to)]
    if (from !== undefined && to !== undefined) return { from, to }
    throw new SecretKeyError(
      isEmbedded(settings)
        ? `A rotation is unfinished, and one of its keys is missing: restore ${keyFile} and ${nextKeyFile}.`
        : 'A rotation is unfinished: set SECRET_KEY and SECRET_KEY_PREVIOUS to its two keys, then repeat.',
    )
  }
  const from = findKey(settings, current)
  if (from === undefined)
    throw new SecretKeyError(
      'SECRET_KEY is not the key that this database was encrypted with. Nothing was changed.',
    )
  return { from, to: isEmbedded(settings) ? nextKeyIn(settings.dataDir) : typedKey(settings, current) }
}

function typedKey({ secretKey = '', secretKeyPrevious }: KeySettings, current: string): string {
  if (secretKeyPrevious === undefined || fingerprintOf(secretKeyPrevious) === fingerprintOf(secretKey))
    throw new OperatorError(
      'Set SECRET_KEY to a new key (openssl rand -base64 32) and SECRET_KEY_PREVIOUS to the one before, restart every server with both, then repeat. Nothing was changed.',
    )
  // The key before is set while the database has the new one: what is left of the old one is sealed anew.
  if (fingerprintOf(secretKeyPrevious) !== current && fingerprintOf(secretKey) !== current)
    throw new SecretKeyError('SECRET_KEY_PREVIOUS is not the key of this database. Nothing was changed.')
  return secretKey
}

/** An earlier run may have made it. */
function nextKeyIn(dataDir: string): string {
  const path = join(dataDir, nextKeyFile)
  return existsSync(path) ? textOf(path) : makeKeyFile(path)
}

const textOf = (path: string): string => readFileSync(path, 'utf8').trim()

/** Keeps the old key beside, then puts the new one in its place. Returns the path of the old one. */
export function exchangeKeyFiles(settings: KeySettings, { to }: KeyPair, now: number): string | undefined {
  if (!isEmbedded(settings)) return undefined
  const { dataDir } = settings
  const path = join(dataDir, keyFile)
  const old = readdirSync(dataDir)
    .filter((name) => oldKeyName.test(name))
    .sort()
    .map((name) => join(dataDir, name))
  const replaced = textOf(path)
  if (replaced === to) return old.at(-1)
  let kept = old.find((one) => textOf(one) === replaced)
  if (kept === undefined) {
    kept = join(dataDir, oldKeyFile(now))
    makeKeyFile(kept, replaced)
  }
  const next = join(dataDir, nextKeyFile)
  if (existsSync(next) && textOf(next) === to) renameSync(next, path)
  else {
    // A restored database goes on with a rotation whose new key is kept beside already.
    const scratch = scratchIn(dataDir)
    makeKeyFile(scratch, to)
    renameSync(scratch, path)
  }
  syncDirectory(dataDir)
  return kept
}

/** Whether a server runs on the embedded database. */
export function hasServer(dataDir: string): boolean {
  try {
    lockDataDir(dataDir)()
    return false
  } catch (error) {
    if (error instanceof OperatorError && error.message.startsWith('Another Keyward server')) return true
    throw error
  }
}
