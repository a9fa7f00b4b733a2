import { setImmediate } from 'node:timers/promises'
import { unlimited } from '@keyward/contract'
import { newId, toTyped } from '../../core/ids.ts'
import { inSlices, isIn, type Tx, type WriteTransaction } from '../../db/index.ts'
import { called } from '../../db/tables/imports.ts'
import type { DataImportReportRow, DataImportRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findApp, holdPlaces, lockApp, readFreePlaces } from '../apps/apps.access.ts'
import { insertDevices } from '../devices/devices.access.ts'
import { deleteEndUserRows } from '../entitlements/end-user-rows.ts'
import { rememberSpellings } from '../entitlements/former-names.ts'
import { changeAccess, type NewGrant } from '../entitlements/grants.ts'
import {
  insertImportedEndUsers,
  insertImportedLicenses,
  nameImportedEndUsers,
} from '../entitlements/imported-rows.ts'
import { deleteByIds } from '../entitlements/license-rows.ts'
import { readTypesByName } from '../license-types/license-types.access.ts'
import { takenKeys } from '../licenses/licenses.access.ts'
import { getLimits } from '../owners/owners.service.ts'
import { draftLicense, draftUser, type LicenseDraft, type Target, type UserDraft } from './drafts.ts'
import { actorOfStored, ClaimLost, claimMs, listUnits, lockClaimed } from './imports.claim.ts'
import * as repo from './imports.repo.ts'

/** The vendor's shops and imports have made as many licenses as they may within an hour. */
export class ShareUsedUp extends Error {
  readonly waitMs: number

  constructor(waitMs: number) {
    super('the share of this hour is used up')
    this.waitMs = waitMs
  }
}

/** What becomes of one unit. */
interface Planned {
  rows: DataImportReportRow[]
  user: UserDraft | undefined
  licenses: LicenseDraft[]
}

/**
 * Creates what the rows say, or finds out what would be created; each slice is counted by the transaction that adds it,
 * and the last one ends the import.
 */
export async function applyRows(
  ctx: Ctx,
  row: DataImportRow,
  end: (write: WriteTransaction) => Promise<void>,
): Promise<void> {
  const actor = actorOfStored(row)
  const { maxLicensesPerApp: max } = await getLimits(ctx, actor)
  const types = await readTypesByName(ctx.db, row.app_id)
  const columns: string[] | undefined = row.preset === called ? JSON.parse(row.mapping) : undefined
  await inSlices(ctx, actor, async (write, size) => {
    const { tx, now } = write
    const current = await lockClaimed(tx, actor, row)
    const waitMs = columns || current.dry_run === 1 ? 0 : write.waitToGrow()
    if (waitMs > 0) throw new ShareUsedUp(waitMs)
    const units = await listUnits(tx, current, size)
    const target = { ownerId: row.owner_id, appId: row.app_id, types, now }
    const planned: Planned[] = []
    for (const unit of units) planned.push(plan(unit, target, columns))
    if (columns) await holdPlaces(tx, actor, row.app_id, -units.length)
    const free = columns ? units.length : await readFree(tx, current, max, now)
    await refuseTaken(tx, target, planned)
    refuseBeyond(planned, free, max)
    if (current.dry_run === 0) await create(write, current, planned)
    const rows = planned.flatMap((one) => one.rows)
    const nothing = current.dry_run === 1 ? { license_id: null, client_id: null } : {}
    const done = rows.map(
      (one) => ({ ...one, outcome: one.outcome ?? 'created', content: null, ...nothing }) as const,
    )
    await repo.replaceRows(tx, done, columns ? done.filter((one) => one.outcome !== 'created') : done)
    const count = (outcome: string) => done.filter((one) => one.outcome === outcome).length
    const created = planned.filter(isOpen)
    await repo.updateImport(tx, actor, row.id, {
      done: current.done + rows.length,
      created: current.created + count('created'),
      skipped: current.skipped + count('skipped'),
      failed: current.failed + count('failed'),
      licenses: current.licenses + created.reduce((sum, one) => sum + one.licenses.length, 0),
      clients: current.clients + created.filter((one) => one.user).length,
      claimed_until: now + claimMs,
    })
    if (rows.length >= size) return { found: size }
    await end(write)
    return { found: rows.length }
  })
}

/** Whether something is to be created. */
const isOpen = ({ licenses }: Planned): boolean => licenses.length > 0

const readOf = ({ content }: DataImportReportRow) => JSON.parse(content ?? '{}')

function plan(unit: DataImportReportRow[], target: Target, columns: string[] | undefined): Planned {
  const rows = unit.map((row) => ({ ...row }))
  const [head] = rows
  const open = rows.filter((row) => row.outcome === null && row.content !== null)
  const keys = open.filter((row) => row.kind === 'license')
  if (head?.kind === 'client' && head.outcome === null) {
    const user = draftUser(readOf(head), keys.map(readOf), target)
    head.message = user.hints.join(' ') || null
    head.client_id = user.client.id
    if (keys.length === 0) head.license_id = user.licenses[0]?.license.id ?? null
    for (const [at, row] of keys.entries()) note(row, user.licenses[at], user.client.id)
    return { rows, user, licenses: user.licenses }
  }
  const licenses: LicenseDraft[] = []
  for (const row of keys) {
    const draft = columns ? toDraft(columns, readOf(row)) : draftLicense(readOf(row), target)
    if ('problem' in draft) {
      row.outcome = 'failed'
      row.message = draft.problem
      continue
    }
    note(row, draft, null)
    licenses.push(draft)
  }
  return { rows, user: undefined, licenses }
}

/** A license of a call, stored as the values of its columns. */
const toDraft = (columns: readonly string[], values: unknown[]): LicenseDraft => {
  const license: object = Object.fromEntries(columns.map((column, at) => [column, values[at]]))
  return { license: license as LicenseDraft['license'], hints: [] }
}

function note(row: DataImportReportRow, draft: LicenseDraft | undefined, clientId: string | null): void {
  row.license_id = draft?.license.id ?? null
  row.client_id = clientId
  row.message = draft?.hints.join(' ') || null
}

function refuse(planned: Planned, outcome: 'skipped' | 'failed', message: string, ofKeys = message): void {
  for (const row of planned.rows) {
    if (row.outcome !== null) continue
    row.outcome = outcome
    row.message = row.kind === 'client' ? message : ofKeys
  }
  for (const row of planned.rows) {
    row.license_id = null
    row.client_id = null
  }
  planned.user = undefined
  planned.licenses = []
}

const taken = {
  keyOfUser:
    'Its key exists already in this app. Delete it there, or undo the import that brought it, and try again',
  user: 'An end user with this name exists already in this app',
  ofUser: 'Its end user exists already in this app, or cannot be imported',
} as const

export const takenMessage = (isExact: boolean): string =>
  isExact ? 'The key exists already' : 'A key that reads the same exists already'

async function refuseTaken(tx: Tx, { appId }: Target, planned: readonly Planned[]): Promise<void> {
  const open = planned.filter(isOpen)
  const typedOf = ({ license }: LicenseDraft) => toTyped(license.key_normalized)
  const typed = open.flatMap(({ licenses }) => licenses.map(typedOf))
  const keys = typed.length === 0 ? [] : await takenKeys(tx, appId, typed)
  const names = open.flatMap(({ user }) => user?.client.username_normalized ?? [])
  const [knownKeys, typedKeys] = [new Set(keys), new Set(keys.map(toTyped))]
  const knownNames = await takenNames(tx, appId, names)
  for (const one of open) {
    const found = one.licenses.find((draft) => typedKeys.has(typedOf(draft)))
    if (one.user && knownNames.has(one.user.client.username_normalized))
      refuse(one, 'skipped', taken.user, taken.ofUser)
    else if (!found) continue
    else if (one.user) refuse(one, 'failed', taken.keyOfUser, taken.ofUser)
    else refuse(one, 'skipped', takenMessage(knownKeys.has(found.license.key_normalized)))
  }
}

async function takenNames(tx: Tx, appId: string, names: readonly string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  const rows = await tx
    .selectFrom('clients')
    .select('username_normalized')
    .where('app_id', '=', appId)
    .where(isIn(tx, 'username_normalized', names))
    .execute()
  return new Set(rows.map((row) => row.username_normalized))
}

async function readFree(tx: Tx, row: DataImportRow, max: number, now: number): Promise<number> {
  if (max === unlimited) return Number.POSITIVE_INFINITY
  const scope = actorOfStored(row)
  if (!(await lockApp(tx, scope, row.app_id))) throw new ClaimLost('the app was deleted')
  const app = await findApp(tx, scope, row.app_id)
  const free = app ? await readFreePlaces(tx, app, max, now) : 0
  return row.dry_run === 1 ? free - row.licenses : free
}

function refuseBeyond(planned: readonly Planned[], places: number, max: number): void {
  let free = places
  for (const one of planned) {
    if (!isOpen(one)) continue
    if (one.licenses.length > free) refuse(one, 'failed', `Your plan allows ${max} licenses per app`)
    else free -= one.licenses.length
  }
}

/** Inserts licenses before end users, as everywhere; a unit is left out if another call has just taken its key or name. */
async function create(
  write: WriteTransaction,
  row: DataImportRow,
  planned: readonly Planned[],
): Promise<void> {
  const { tx, now } = write
  const scope = actorOfStored(row)
  const open = planned.filter(isOpen)
  if (open.length === 0) return
  await setImmediate()
  const licenses = open.flatMap((one) => one.licenses.map(({ license }) => license))
  const inserted = await insertImportedLicenses(tx, licenses)
  const withKeys = open.filter((one) => one.licenses.every(({ license }) => inserted.has(license.id)))
  const users = withKeys.flatMap(({ user }) => (user ? [user.client] : []))
  const named = await insertImportedEndUsers(tx, users)
  const isCreated = (one: Planned) =>
    one.licenses.every(({ license }) => inserted.has(license.id)) &&
    (!one.user || named.has(one.user.client.id))
  const late = open.filter((one) => !isCreated(one))
  const lateIds = late.flatMap((one) => one.licenses.map(({ license }) => license.id))
  if (late.length > 0) {
    await deleteByIds(tx, scope, lateIds)
    const clients = late.flatMap(({ user }) => user?.client.id ?? [])
    if (clients.length > 0) await deleteEndUserRows(tx, scope, clients)
    for (const one of late) refuse(one, 'skipped', one.user ? taken.user : takenMessage(true), taken.ofUser)
  }
  const created = open.filter(isOpen)
  for (const { rows, licenses: named } of created)
    for (const one of rows) one.name ||= named[0]?.license.key ?? ''
  const drafts = created.flatMap(({ user }) => (user ? [user] : []))
  await nameLicenses(write, row, drafts)
  await rememberSpellings(
    tx,
    drafts.map(({ client }) => client),
  )
  await insertDevices(
    tx,
    drafts.flatMap(({ client, machines }) =>
      machines.map((machine) => {
        const id = newId('dev')
        return { id, ownerId: row.owner_id, client, machine, hwidHash: machine.hash, version: null, now }
      }),
    ),
  )
  const hashes = drafts.flatMap(({ client, emailSha1 }) =>
    emailSha1 === null ? [] : { client_id: client.id, email_sha1: emailSha1 },
  )
  await repo.insertEmailHashes(tx, hashes)
  const ids = created.flatMap((one) => one.licenses.map(({ license }) => license.id))
  const objects = [...ids, ...drafts.map(({ client }) => client.id)]
  if (ids.length > 0 && row.preset !== called) {
    write.recordWith(objects, 'licenses.imported', row.app_id, { count: ids.length }, row.app_id)
  }
}

async function nameLicenses(
  write: WriteTransaction,
  row: DataImportRow,
  drafts: readonly UserDraft[],
): Promise<void> {
  const scope = actorOfStored(row)
  const own = drafts.flatMap(({ client }) => client.license_id ?? [])
  const more = drafts.filter(({ licenses }) => licenses.length > 1)
  const added = more.map(({ client, licenses }) => {
    return [client.id, licenses.slice(1).map(({ license }) => license.id)] as const
  })
  await nameImportedEndUsers(write.tx, scope, own, new Map(added))
  // The end that the file names counts the time of all keys.
  const granted = new Map(
    drafts
      .filter(({ licenses, isPaused }) => isPaused || licenses.length > 1)
      .map((draft) => [draft.client.id, draft]),
  )
  await changeAccess(write, scope, { clients: [...granted.keys()] }, ({ client }) => {
    const { licenses = [], isPaused } = granted.get(client?.id ?? '') ?? {}
    const keys = licenses.slice(1).map(({ license }) => timeOfImported(license))
    return { added: isPaused ? [...keys, { kind: 'pause', source_kind: 'import', source_id: row.id }] : keys }
  })
}

const timeOfImported = (key: LicenseDraft['license']): NewGrant => ({
  ...{ kind: 'time', moved_ms: 0, source_kind: 'key', source_id: key.id, key },
})
