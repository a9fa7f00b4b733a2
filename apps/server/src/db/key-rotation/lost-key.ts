// ADR 97: gives an installation whose secret key is lost a new one.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { second } from '../../core/clock.ts'
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
} from '../secret-key.ts'
import { keyFile, lockDataDir } from '../sqlite/data-dir.ts'
import { transact } from '../transact.ts'
import { deleteRotation, insertRotation, readServers } from './state.ts'

/** Every running server has answered by then. */
const answersMs = 5 * second

/** Throws unless the key is lost, and no server runs. Returns a function that lets servers run again. */
export async function refuseUnlessLost(database: OpenDatabase, settings: KeySettings): Promise<() => void> {
  const { fingerprint, isReplacingLost } = await readKeyMeta(database)
  if (fingerprint === undefined)
    throw new OperatorError('The database is empty: start Keyward once. Nothing was changed.')
  if (!isReplacingLost && findKey(settings, fingerprint) !== undefined)
    throw new OperatorError(
      'The key is here and opens the database. To replace it, use keyward keys rotate. Nothing was changed.',
    )
  if (database.dialect === 'sqlite') return lockDataDir(settings.dataDir)
  await refuseServers(database, fingerprint)
  return () => {}
}

/** Announces a rotation to a random key: every running server answers that it does not have it. */
async function refuseServers({ db }: OpenDatabase, from: string): Promise<void> {
  const to = randomBytes(16).toString('hex')
  await transact(db, async (tx) => {
    await deleteRotation(tx)
    await insertRotation(tx, { from, to, phase: 'announced', runner: to, beat: 0 })
  })
  await pause(answersMs)
  const found = [...(await readServers(db, to)).values()]
  await transact(db, (tx) => deleteRotation(tx))
  const [one] = found
  if (one)
    throw new OperatorError(`A server runs on ${one.host}: stop every server first. Nothing was changed.`)
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
    await tx.deleteFrom('meta').where('name', '=', digestKeyName).execute()
    await deleteRotation(tx)
  })
  return seal
}

export async function endReplacement({ db }: OpenDatabase): Promise<void> {
  await transact(db, (tx) => tx.deleteFrom('meta').where('name', '=', lostKeyName).execute())
}
