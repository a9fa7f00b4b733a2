// ADR 97: gives an installation whose secret key is lost a new one.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createSeal, type Seal } from '../../core/crypto.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { putMeta } from '../meta.ts'
import type { OpenDatabase } from '../open.ts'
import {
  digestKeyName,
  findKey,
  fingerprintName,
  type KeySettings,
  keysOf,
  lostKeyName,
  makeKeyFile,
  readKeyMeta,
  rotationName,
} from '../secret-key.ts'
import { keyFile, lockDataDir } from '../sqlite/data-dir.ts'
import { transact } from '../transact.ts'
import { findServerWithout } from './servers.ts'

/** Throws unless the key is lost, and no server runs. Returns a function that lets servers run again. */
export async function refuseUnlessLost(database: OpenDatabase, settings: KeySettings): Promise<() => void> {
  const { fingerprint, isReplacingLost, unfinished } = await readKeyMeta(database)
  if (fingerprint === undefined)
    throw new OperatorError('The database is empty: start Keyward once. Nothing was changed.')
  const needed = [fingerprint, unfinished?.from ?? fingerprint]
  if (!isReplacingLost && needed.every((key) => findKey(settings, key) !== undefined))
    throw new OperatorError(
      'The key is here and opens the database. To replace it, use keyward keys rotate. Nothing was changed.',
    )
  if (database.dialect === 'sqlite') return lockDataDir(settings.dataDir)
  // No server has a random key, so every running one answers.
  const host = await findServerWithout(database, randomBytes(16).toString('hex'))
  if (host !== undefined)
    throw new OperatorError(`A server runs on ${host}: stop every server first. Nothing was changed.`)
  return () => {}
}

/**
 * Gives the database another key. From this commit on the lost one is worth nothing, should it be found, and no server
 * starts until the replacement has ended.
 */
export async function takeNewKey({ db }: OpenDatabase, settings: KeySettings): Promise<Seal> {
  const path = join(settings.dataDir, keyFile)
  if (settings.secretKey === undefined && !existsSync(path)) makeKeyFile(path)
  const [key] = keysOf(settings)
  const seal = createSeal(key?.text ?? '')
  await transact(db, async (tx) => {
    await putMeta(tx, fingerprintName, seal.fingerprint)
    await putMeta(tx, lostKeyName, seal.fingerprint)
    await tx.deleteFrom('meta').where('name', 'in', [digestKeyName, rotationName]).execute()
  })
  return seal
}

export async function endReplacement({ db }: OpenDatabase): Promise<void> {
  await transact(db, (tx) => tx.deleteFrom('meta').where('name', '=', lostKeyName).execute())
}
