import { limits, type PartName, partNames, partsThatDecide } from '@keyward/contract'
import { type CompiledQuery, type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Db, foundInScope, lock, prepared, type Tx } from '../../db/index.ts'
import type { ClientRow, DeviceRow, Tables } from '../../db/tables.ts'
import {
  type Binding,
  leaveDevices,
  setLatestDevice,
  updateBinding,
  updateEndUsers,
} from '../entitlements/end-user-rows.ts'
import type { Machine, Parts } from './devices.rules.ts'
import { leaveVersions, toVersionColumns } from './versions.access.ts'

const partColumns = {
  machine: 'part_machine',
  board: 'part_board',
  disk: 'part_disk',
  network: 'part_network',
} as const satisfies Record<PartName, keyof DeviceRow>

/** The columns of a machine's parts. */
export type PartColumns = Pick<DeviceRow, (typeof partColumns)[PartName]>

export const partsOf = (row: PartColumns): Parts =>
  Object.fromEntries(partNames.map((name) => [name, row[partColumns[name]]])) as Parts

export const toPartColumns = (parts: Parts) =>
  Object.fromEntries(partNames.map((name) => [partColumns[name], parts[name]])) as PartColumns

/** Named one by one, because PostgreSQL does not prepare a `select *`. */
const deviceColumns = [
  'id',
  'owner_id',
  'app_id',
  'client_id',
  'hwid',
  'hwid_hash',
  'name',
  'system',
  ...Object.values(partColumns),
  'drifts',
  'drifting_since',
  'lease_until',
  'lease_hash',
  'version',
  'version_order',
  'told_release',
  'freed_until',
  'first_seen_at',
  'last_seen_at',
] as const satisfies (keyof DeviceRow)[]

/** The device of an end user with this hash. */
export const findByHash = (db: Db, clientId: string, hwidHash: string): Promise<DeviceRow | undefined> =>
  byHash.first(db, { clientId, hash: hwidHash, sentHash: hwidHash })

/** The device that an end user has bound with the hardware id of a machine. */
export const findMachine = (db: Db, clientId: string, machine: Machine): Promise<DeviceRow | undefined> =>
  byHash.first(db, { clientId, ...hashesOf(machine) })

/** The device of an end user with any of these hashes. */
export const findByHashes = (
  db: Db,
  clientId: string,
  hwidHashes: readonly string[],
): Promise<DeviceRow | undefined> =>
  db
    .selectFrom('devices')
    .select(deviceColumns)
    .where('client_id', '=', clientId)
    .where('hwid_hash', 'in', hwidHashes)
    .orderBy('last_seen_at', 'desc')
    .executeTakeFirst()

const boundKept = 5

/** The parts of the devices of an app with this hash, those seen last; a twin has a longer hash. */
export async function listPartsOf(db: Db, appId: string, hwidHash: string): Promise<Parts[]> {
  const rows = await db
    .selectFrom('devices')
    .select(Object.values(partColumns))
    .where('app_id', '=', appId)
    .where('hwid_hash', '>=', hwidHash)
    .where('hwid_hash', '<', `${hwidHash};`)
    .orderBy('last_seen_at', 'desc')
    .limit(boundKept)
    .execute()
  return rows.map(partsOf)
}

/** The query of `findMachine`. */
export const deviceOfMachine = (db: Db, clientId: string, machine: Machine): CompiledQuery<DeviceRow> =>
  byHash.with(db, { clientId, ...hashesOf(machine) })

const hashesOf = ({ hash, sentHash }: Machine) => ({ hash, sentHash })

const byHash = prepared((db, values: { clientId: string; hash: string; sentHash: string }) =>
  db
    .selectFrom('devices')
    .select(deviceColumns)
    .where('client_id', '=', values.clientId)
    .where('hwid_hash', 'in', [values.hash, values.sentHash]),
)

// A replaced file counts: a copy of the machine's data runs with it until it ends or a code ends it.
const mayRun = ({ eb, or }: ExpressionBuilder<Tables, 'offline_activations'>) =>
  or([eb('ended_by', 'is', null), eb('ended_by', '=', 'replaced')])

/** Until when activation files run on the devices of end users that are known to be the owner's, by device. */
export async function listActivationEnds(
  db: Db,
  clientIds: readonly string[],
  now: number,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('offline_activations')
    .select(['device_id', 'until'])
    .where('client_id', 'in', clientIds)
    .where('device_id', 'is not', null)
    .where(mayRun)
    .where('until', '>', now)
    .orderBy('until')
    .execute()
  return new Map(rows.flatMap(({ device_id, until }) => (device_id === null ? [] : [[device_id, until]])))
}

export async function isDeviceOf(db: Db, clientId: string, id: string): Promise<boolean> {
  const query = db.selectFrom('devices').select('id').where('id', '=', id).where('client_id', '=', clientId)
  return (await query.executeTakeFirst()) !== undefined
}

/** Until when an activation file runs on a device that is never online; undefined without one. */
export async function findActivationEnd(db: Db, deviceId: string, now: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('offline_activations')
    .select('until')
    .where('device_id', '=', deviceId)
    .where(mayRun)
    .where('until', '>', now)
    .orderBy('until', 'desc')
    .executeTakeFirst()
  return row?.until
}

/** The device of an end user with enough equal parts; preferably one with the same hardware id. */
export const findSimilar = (
  db: Db,
  clientId: string,
  { hwid, parts }: Machine,
): Promise<DeviceRow | undefined> => {
  const equal = (name: PartName): RawBuilder<number> =>
    sql`(case when ${sql.ref(partColumns[name])} = ${parts[name]} then 1 else 0 end)`
  return db
    .selectFrom('devices')
    .selectAll()
    .where('client_id', '=', clientId)
    .where(sql<boolean>`${sql.join(partNames.map(equal), sql` + `)} >= ${sql.lit(partsThatDecide)}`)
    .orderBy((eb) => eb.case().when('hwid', '=', hwid).then(0).else(1).end())
    .orderBy('last_seen_at', 'desc')
    .executeTakeFirst()
}

/** The devices of an end user that is known to be the owner's, the one seen last first. */
export const listDevices = (db: Db, clientId: string, count: number): Promise<DeviceRow[]> =>
  db
    .selectFrom('devices')
    .selectAll()
    .where('client_id', '=', clientId)
    .orderBy('last_seen_at', 'desc')
    .orderBy('id', 'desc')
    .limit(count)
    .execute()

/** The devices of end users, those seen last first. */
export const listDevicesOfMany = (
  db: Db,
  scope: OwnerScope,
  clientIds: readonly string[],
  count: number,
): Promise<DeviceRow[]> =>
  db
    .selectFrom('devices as d')
    .selectAll('d')
    .where('d.client_id', 'in', clientIds)
    .where(foundInScope(scope, 'd'))
    .orderBy('d.last_seen_at', 'desc')
    .orderBy('d.id', 'desc')
    .limit(count)
    .execute()

interface NewDevice {
  id: string
  ownerId: string
  client: Pick<ClientRow, 'id' | 'app_id'>
  machine: Machine
  hwidHash: string
  /** The version of the program; null if the call names none. */
  version: string | null
  now: number
}

export const insertDevice = (tx: Tx, device: NewDevice): Promise<void> => insertDevices(tx, [device])

export async function insertDevices(tx: Tx, devices: readonly NewDevice[]): Promise<void> {
  if (devices.length === 0) return
  const rows = devices.map(({ id, ownerId, client, machine, hwidHash, version, now }) => ({
    id,
    owner_id: ownerId,
    app_id: client.app_id,
    client_id: client.id,
    hwid: machine.hwid,
    hwid_hash: hwidHash,
    name: machine.name,
    system: machine.system,
    ...toPartColumns(machine.parts),
    ...toVersionColumns(version),
    first_seen_at: now,
    last_seen_at: now,
  }))
  await prepared.insert(tx, 'devices', rows).execute()
}

/** Updates a device and its end user, on PostgreSQL together with the transaction's next query. */
export async function updateDevice(
  tx: Tx,
  scope: OwnerScope,
  { clientId, id }: { clientId: string; id: string },
  { device, binding }: { device: Partial<DeviceRow>; binding: Binding },
): Promise<void> {
  await prepared.update(tx, 'devices', device, { id }).later()
  await updateBinding(tx, scope, clientId, binding)
}

/** Frees one device of an end user, whom the caller has locked, at once; false if there is none. */
export async function freeDevice(tx: Tx, scope: OwnerScope, clientId: string, id: string): Promise<boolean> {
  const deleted = await tx
    .deleteFrom('devices')
    .where('id', '=', id)
    .where('client_id', '=', clientId)
    .where(foundInScope(scope, 'devices'))
    .returning('id')
    .executeTakeFirst()
  if (!deleted) return false
  await countFreed(tx, scope, clientId, 1)
  return true
}

/** Updates how many devices an end user has, and the hardware id of the one seen last. */
export async function countFreed(tx: Tx, scope: OwnerScope, clientId: string, freed: number): Promise<void> {
  const latest = await tx
    .selectFrom('devices')
    .select(['hwid', 'hwid_hash'])
    .where('client_id', '=', clientId)
    .where('freed_until', 'is', null)
    .orderBy('last_seen_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  await leaveDevices(tx, scope, clientId, { freed, latest })
}

/** Makes room for one more device where their number is unlimited, but not stored without limit. */
export async function deleteOldest(tx: Tx, clientId: string): Promise<number> {
  const kept = tx
    .selectFrom('devices')
    .select('id')
    .where('client_id', '=', clientId)
    .orderBy('last_seen_at', 'desc')
    .limit(limits.devicesMax - 1)
  const deleted = await tx
    .deleteFrom('devices')
    .where('client_id', '=', clientId)
    .where('id', 'not in', kept)
    .returning('id')
    .execute()
  return deleted.length
}

/** Frees all devices of end users. */
export async function freeAllDevices(tx: Tx, scope: OwnerScope, clientIds: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('devices')
    .where('client_id', 'in', clientIds)
    .where(foundInScope(scope, 'devices'))
    .execute()
  await updateEndUsers(tx, scope, clientIds, { hwid: null, hwid_hash: null, device_count: 0 })
}

/** Sets when devices were seen and with which versions, and the end users' hardware ids with them. */
export async function seeDevices(
  tx: Tx,
  versions: ReadonlyMap<string, string | null>,
  now: number,
): Promise<void> {
  const ids = [...versions.keys()]
  const devices = await lock
    .all(
      tx,
      tx
        .selectFrom('devices')
        .select(['id', 'app_id', 'client_id', 'hwid', 'hwid_hash', 'version', 'version_order'])
        .where('id', 'in', ids),
    )
    .execute()
  const versionOf = ({ id, version }: { id: string; version: string | null }) => versions.get(id) ?? version
  const changed = devices.filter((device) => versionOf(device) !== device.version)
  await leaveVersions(tx, changed, now)
  for (const [version, some] of Map.groupBy(devices, versionOf)) {
    await tx
      .updateTable('devices')
      .set({ last_seen_at: now, ...toVersionColumns(version) })
      .where(
        'id',
        'in',
        some.map(({ id }) => id),
      )
      .execute()
  }
  for (const { client_id, hwid, hwid_hash } of devices)
    await setLatestDevice(tx, client_id, { hwid, hwid_hash })
}
