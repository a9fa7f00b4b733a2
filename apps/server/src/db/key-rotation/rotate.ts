// ADR 97: gives a database the new secret key, and seals every value anew.
import { existsSync, renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { second } from '../../core/clock.ts'
import { createSeal, type Seal, SealRing } from '../../core/crypto.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { syncDirectory } from '../files.ts'
import { putMeta, readMeta } from '../meta.ts'
import type { OpenDatabase } from '../open.ts'
import {
  askedName,
  digestKeyName,
  digestKeyOf,
  findKey,
  fingerprintName,
  fingerprintOf,
  type KeyMeta,
  type KeySettings,
  keysOf,
  makeKeyFile,
  nextKeyFile,
  previousKeyFile,
  readKey,
  readKeyMeta,
  rotationName,
  SecretKeyError,
  sealDigestKey,
  UnfinishedRotationError,
} from '../secret-key.ts'
import { isServed, keyFile } from '../sqlite/data-dir.ts'
import type { Db, Tx } from '../tables.ts'
import { transact } from '../transact.ts'
import { readSlice, reseal, type SealedColumn, type SealedRow } from './reseal.ts'
import { findServerWithout } from './servers.ts'

/**
 * Running servers look every second which key seals. A request may have sealed with the one before, and store it after a
 * pass over its column.
 */
const settleMs = 5 * second

export interface RotationReport {
  /** Values that were sealed anew, by table and column. */
  sealed: Record<string, number>
  /** Values that neither key opens, by table and column; they stay as they are. */
  unreadable: Record<string, number>
  /** The file of the old key; null if the environment has it. */
  oldKey: string | null
}

/** Can be killed and repeated at any moment; two at once do the same work. */
export async function rotateKeys(
  database: OpenDatabase,
  settings: KeySettings,
  { columns, tell }: { columns: readonly SealedColumn[]; tell: (line: string) => void },
): Promise<RotationReport> {
  const hasServers = database.dialect === 'postgres' || isServed(settings.dataDir)
  // A server with key files reads them again.
  if (hasServers && settings.secretKey !== undefined) await refuseServersWithout(database, settings)
  const { to, isUnfinished } = await transact(database.db, (tx) => turn(tx, settings))
  tell('The database has the new key. Every value is sealed anew now.')
  const report = await sealAll(database, settings, to, {
    columns,
    settleMs: hasServers && isUnfinished ? settleMs : 0,
  })
  await transact(database.db, (tx) => end(tx, fingerprintOf(to)))
  const previous = join(settings.dataDir, previousKeyFile)
  return { ...report, oldKey: settings.secretKey === undefined && existsSync(previous) ? previous : null }
}

async function refuseServersWithout(database: OpenDatabase, settings: KeySettings): Promise<void> {
  const meta = refuseUnready(await readKeyMeta(database))
  const to = fingerprintOf(chooseKeys(settings, meta).to)
  const host = to === meta.fingerprint ? undefined : await findServerWithout(database, to)
  if (host !== undefined)
    throw new OperatorError(
      `A server on ${host} does not hold the new key: restart it with SECRET_KEY and SECRET_KEY_PREVIOUS, then repeat. Nothing was changed.`,
    )
}

/** From this commit on, the database has the new key. Returns it. */
async function turn(tx: Tx, settings: KeySettings): Promise<{ to: string; isUnfinished: boolean }> {
  const meta = refuseUnready(await readKeyMeta({ db: tx }))
  // A transaction of the embedded database excludes every other command.
  if (settings.secretKey === undefined) placeNewKey(settings.dataDir, meta)
  const { from, to } = chooseKeys(settings, meta)
  const [before, after] = [fingerprintOf(from), fingerprintOf(to)]
  if (after === meta.fingerprint) return { to, isUnfinished: meta.unfinished !== undefined }
  const turned = await tx
    .updateTable('meta')
    .set({ value: after })
    .where('name', '=', fingerprintName)
    .where('value', '=', before)
    .returning('name')
    .execute()
  if (turned.length === 0) {
    await refuseTurned(tx, after)
    return { to, isUnfinished: true }
  }
  await putMeta(tx, digestKeyName, sealDigestKey(to, digestKeyOf(from, meta.sealedDigestKey)))
  await putMeta(tx, rotationName, JSON.stringify({ from: before, to: after }))
  return { to, isUnfinished: true }
}

/** Ends the rotation to this key, and deletes what rotations of 1.1 and killed commands have left. */
async function end(tx: Tx, to: string): Promise<void> {
  await refuseTurned(tx, to)
  const left = (prefix: string) => tx.deleteFrom('meta').where('name', 'like', `${prefix}%`)
  await left(rotationName).where('value', 'like', `%"to":"${to}"%`).execute()
  await left(askedName).execute()
  await left('secret_key_server:').execute()
}

/** Throws if the database has got yet another key since. */
async function refuseTurned(tx: Tx, to: string): Promise<void> {
  if ((await readMeta(tx, fingerprintName)) !== to)
    throw new OperatorError(
      'Another keyward keys rotate has given the database another key. This one has ended.',
    )
}

function refuseUnready(meta: KeyMeta): KeyMeta & { fingerprint: string } {
  const { fingerprint, isReplacingLost } = meta
  if (isReplacingLost)
    throw new OperatorError('Replacing a lost key is unfinished: run keyward keys replace-lost again.')
  if (fingerprint === undefined)
    throw new OperatorError('The database is empty: start Keyward once. Nothing was changed.')
  return { ...meta, fingerprint }
}

/** The key that the database has, or had before an unfinished rotation, and the one that everything is sealed with. */
function chooseKeys(
  settings: KeySettings,
  { fingerprint, unfinished }: KeyMeta & { fingerprint: string },
): { from: string; to: string } {
  if (unfinished) {
    const [from, to] = [findKey(settings, unfinished.from), findKey(settings, unfinished.to)]
    if (from === undefined || to === undefined) throw new UnfinishedRotationError(settings)
    return { from, to }
  }
  const from = findKey(settings, fingerprint)
  if (from === undefined)
    throw new SecretKeyError(
      'SECRET_KEY is not the key that this database was encrypted with. Nothing was changed.',
    )
  const { dataDir, secretKey, secretKeyPrevious } = settings
  if (secretKey !== undefined && (secretKeyPrevious === undefined || secretKeyPrevious === secretKey))
    throw new OperatorError(
      'Set SECRET_KEY to a new key (openssl rand -base64 32) and SECRET_KEY_PREVIOUS to the one before, restart every server with both, then repeat. Nothing was changed.',
    )
  return { from, to: secretKey ?? readKey(join(dataDir, keyFile)) }
}

/**
 * Puts a new key in the place of `secret.key`, and keeps the one before beside it, unless an earlier run has. The new one
 * that a killed run has made, of 1.1 too, is used.
 */
function placeNewKey(dataDir: string, { fingerprint, unfinished }: KeyMeta): void {
  const key = join(dataDir, keyFile)
  const next = join(dataDir, nextKeyFile)
  const previous = join(dataDir, previousKeyFile)
  const holds = (path: string, print: string | undefined) =>
    existsSync(path) && fingerprintOf(readKey(path)) === print
  const isWanted = unfinished
    ? holds(next, unfinished.to)
    : holds(key, fingerprint) &&
      (existsSync(next) || !existsSync(previous) || readKey(previous) === readKey(key))
  if (isWanted) {
    if (!existsSync(next)) makeKeyFile(next)
    if (!existsSync(previous)) makeKeyFile(previous, readKey(key))
    if (readKey(previous) !== readKey(key))
      throw new OperatorError(
        `${previous} is an older key: move it to where keys are kept, then repeat. Nothing was changed.`,
      )
    renameSync(next, key)
    syncDirectory(dataDir)
  }
  // What it has sealed until now is accepted for a day.
  if (existsSync(previous) && !holds(key, fingerprint)) utimesSync(previous, new Date(), new Date())
}

/** Passes over all columns until a pass that began after every server had turned finds nothing. */
async function sealAll(
  { db }: OpenDatabase,
  settings: KeySettings,
  to: string,
  options: { columns: readonly SealedColumn[]; settleMs: number },
): Promise<Pick<RotationReport, 'sealed' | 'unreadable'>> {
  const target = createSeal(to)
  const opener = new SealRing(target.fingerprint, () => keysOf(settings), Buffer.alloc(32))
  const sealed: Record<string, number> = {}
  const settledAt = performance.now() + options.settleMs
  for (;;) {
    const began = performance.now()
    const unreadable: Record<string, number> = {}
    let changed = 0
    for (const column of options.columns) {
      const name = `${column.table}.${column.column}`
      const done = await sealColumn(db, column, { target, opener })
      changed += done.sealed
      if (done.sealed > 0) sealed[name] = (sealed[name] ?? 0) + done.sealed
      if (done.unreadable > 0) unreadable[name] = done.unreadable
    }
    if (changed === 0 && began >= settledAt) return { sealed, unreadable }
    if (changed === 0) await pause(Math.max(0, settledAt - performance.now()))
  }
}

async function sealColumn(
  db: Db,
  column: SealedColumn,
  { target, opener }: { target: Seal; opener: Seal },
): Promise<{ sealed: number; unreadable: number }> {
  const done = { sealed: 0, unreadable: 0 }
  let after: SealedRow | undefined
  do {
    const { found, last } = await readSlice(db, column, after, { target, opener })
    const readable = found.flatMap(({ plain, ...one }) => (plain === undefined ? [] : [{ ...one, plain }]))
    if (readable.length > 0) {
      await transact(
        db,
        async (tx) => {
          await refuseTurned(tx, target.fingerprint)
          for (const one of readable) await reseal(tx, column, one, target)
        },
        { rows: readable.length },
      )
    }
    done.sealed += readable.length
    done.unreadable += found.length - readable.length
    after = last
  } while (after)
  return done
}
