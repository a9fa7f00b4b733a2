import { type Device, limits, unlimited } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId } from '../../core/ids.ts'
import type { Db, WriteTransaction } from '../../db/index.ts'
import type { ClientRow, DeviceRow } from '../../db/tables.ts'
import { takePlace, updateBinding } from '../entitlements/end-user-rows.ts'
import * as access from './devices.access.ts'
import {
  canDecide,
  type Drift,
  differs,
  gluedHashOf,
  isGlued,
  isHashOnly,
  isPlaceholder,
  looseHashes,
  type Machine,
  merged,
  nextDrift,
  sentHash,
} from './devices.rules.ts'
import { leaveVersions, toVersionColumns } from './versions.access.ts'

/** How a machine relates to the devices of an end user. */
export type Match =
  | { kind: 'known'; device: DeviceRow }
  /** A known machine with a new hardware id; `hasTwin` if another device has that id. */
  | { kind: 'drifted'; device: DeviceRow; hasTwin: boolean; drift: Drift }
  | { kind: 'drifted too often' }
  | { kind: 'new'; hasTwin: boolean }
  /** No machine at all: many machines send this hardware id. */
  | { kind: 'placeholder' }

/** Compares a machine with the devices of an end user; only reads. `known` is the device with its hash, if already read. */
export async function matchDevice(
  db: Db,
  clientId: string,
  machine: Machine,
  settings: { deviceTolerance: boolean; deviceCooldownHours: number },
  now: number,
  known?: { exact: DeviceRow | undefined; hwid?: string | null },
): Promise<Match> {
  const { exact } = known ?? { exact: await access.findMachine(db, clientId, machine) }
  const hasTwin =
    exact !== undefined && settings.deviceTolerance && differs(access.partsOf(exact), machine.parts)
  if (exact && !hasTwin) return { kind: 'known', device: exact }
  if (isPlaceholder(machine)) return { kind: 'placeholder' }
  const hasDevices = known?.hwid !== null
  const loose = exact || !hasDevices ? undefined : await findLoose(db, clientId, machine)
  if (loose) return { kind: 'known', device: loose }
  const gluedHash = gluedHashOf(known?.hwid ?? null)
  const glued = gluedHash === undefined ? undefined : await access.findByHash(db, clientId, gluedHash)
  if (glued && isGlued(glued.hwid, machine))
    return { kind: 'drifted', device: glued, hasTwin, drift: { drifts: 0, drifting_since: null } }
  if (!settings.deviceTolerance || !canDecide(machine.parts)) return { kind: 'new', hasTwin }
  const device = await access.findSimilar(db, clientId, machine)
  if (!device) return { kind: 'new', hasTwin }
  if (device.hwid.trim() === machine.hwid.trim()) return { kind: 'known', device }
  // A device with an activation file runs on without asking, so a machine with the same parts counts as another one.
  if ((await access.findActivationEnd(db, device.id, now)) !== undefined) return { kind: 'new', hasTwin }
  if (isBesideLease(device, machine, now)) return { kind: 'drifted too often' }
  const drift = nextDrift(device, settings.deviceCooldownHours, now)
  return drift ? { kind: 'drifted', device, hasTwin, drift } : { kind: 'drifted too often' }
}

/** The device that is the same machine but for white space at the ends of its hardware id. */
async function findLoose(db: Db, clientId: string, machine: Machine): Promise<DeviceRow | undefined> {
  if (!isHashOnly(machine)) return access.findByHashes(db, clientId, looseHashes(machine))
  // The hash is that of the id as the program has it.
  const devices = await access.listDevices(db, clientId, limits.devicesMax)
  return devices.find(({ hwid }) => hwid !== hwid.trim() && sha256(hwid) === machine.hash)
}

/** While a lease of a device's former hardware id runs, only that id may return: a device drifts once per lease. */
const isBesideLease = (device: DeviceRow, machine: Machine, now: number): boolean =>
  (device.lease_until ?? 0) > now &&
  device.lease_hash !== null &&
  device.lease_hash !== device.hwid_hash &&
  ![machine.hash, machine.sentHash].includes(sentHash(device.lease_hash))

interface Seen {
  machine: Machine
  match: Match
  /** How many devices the end user may have. */
  limit: number
  /** The program's version; null if the call names none. */
  version: string | null
  /** Changes of the end user that the same statement writes. */
  change: { last_login_at?: number | null; last_address?: string }
}

/**
 * Writes that an end user was seen on a machine. A new machine takes a place if one is free. The caller has locked the
 * end user. Returns the hash that identifies the machine, and how many devices the end user has.
 */
export async function seeMachine(
  write: WriteTransaction,
  scope: OwnerScope,
  client: Pick<ClientRow, 'id' | 'app_id' | 'device_count'>,
  { machine, match, limit, version, change }: Seen,
): Promise<{ hwidHash: string; used: number }> {
  const { tx, now } = write
  const { device_count: used } = client
  if (match.kind === 'known' || match.kind === 'drifted') {
    const { device } = match
    const rebound = rebind(write, client, machine, match)
    const seen = isHashOnly(machine) ? { ...machine, hwid: device.hwid } : machine
    const binding = { ...change, ...toBinding(seen, rebound.hwidHash) }
    const ids = { clientId: client.id, id: device.id }
    const seenNow = { ...rebound.change, ...toVersionColumns(version) }
    if (version !== null && version !== device.version) await leaveVersions(tx, [device], now)
    await access.updateDevice(tx, scope, ids, { device: toNews(device, seenNow), binding })
    return { hwidHash: rebound.hwidHash, used }
  }
  if (match.kind === 'new') {
    const removed =
      limit === unlimited && used >= limits.devicesMax ? await access.deleteOldest(tx, client.id) : 0
    const id = newId('dev')
    const hwidHash = match.hasTwin ? hashOfTwin(machine, id) : machine.hash
    const binding = { ...change, ...toBinding(machine, hwidHash) }
    if (await takePlace(tx, scope, client.id, binding, { limit, removed })) {
      await access.insertDevice(tx, { id, ownerId: scope.ownerId, client, machine, hwidHash, version, now })
      write.record('device.bound', id, { endUserId: client.id }, client.app_id)
      return { hwidHash, used: used + 1 - removed }
    }
  }
  await updateBinding(tx, scope, client.id, change)
  return { hwidHash: machine.hash, used }
}

/** What differs from the stored device: to write its name again would write to the search, too. */
function toNews(device: DeviceRow, { last_seen_at, ...change }: Partial<DeviceRow>): Partial<DeviceRow> {
  const news = Object.entries(change).filter(([column, value]) => device[column as keyof DeviceRow] !== value)
  return { last_seen_at, ...Object.fromEntries(news) }
}

/** Binds the machine of a new end user, whose row counts it already. */
export async function addFirstDevice(
  write: WriteTransaction,
  { ownerId }: OwnerScope,
  client: Pick<ClientRow, 'id' | 'app_id'>,
  machine: Machine,
  version: string | null,
): Promise<void> {
  const id = newId('dev')
  await access.insertDevice(write.tx, {
    id,
    ownerId,
    client,
    machine,
    hwidHash: machine.hash,
    version,
    now: write.now,
  })
  write.record('device.bound', id, { endUserId: client.id }, client.app_id)
}

/** What changes of a device on which an end user is seen again, and the hash that identifies it. */
function rebind(
  write: WriteTransaction,
  client: { id: string },
  machine: Machine,
  match: Extract<Match, { device: DeviceRow }>,
): { hwidHash: string; change: Partial<DeviceRow> } {
  const { device } = match
  const seen = {
    ...access.toPartColumns(merged(access.partsOf(device), machine.parts)),
    name: machine.name ?? device.name,
    system: machine.system ?? device.system,
    last_seen_at: write.now,
    freed_until: null,
  }
  if (match.kind === 'known') {
    const hwid = isHashOnly(machine) ? device.hwid : machine.hwid
    return { hwidHash: device.hwid_hash, change: { ...seen, hwid } }
  }
  const hwidHash = match.hasTwin ? hashOfTwin(machine, device.id) : machine.hash
  const bound = { ...toBinding(machine, hwidHash), ...match.drift }
  write.record('device.drifted', device.id, { endUserId: client.id }, device.app_id)
  return { hwidHash, change: { ...seen, ...bound } }
}

export const toDevice = (row: DeviceRow): Device => ({
  _id: row.id,
  name: row.name,
  system: row.system,
  firstSeenAt: toIso(row.first_seen_at),
  lastSeenAt: toIso(row.last_seen_at),
  freedUntil: toIsoOrNull(row.freed_until),
})

const toBinding = ({ hwid }: Pick<Machine, 'hwid'>, hwidHash: string) => ({ hwid, hwid_hash: hwidHash })

/** Distinguishes a second machine with the same hardware id. */
const hashOfTwin = ({ hash }: Machine, deviceId: string): string => `${hash}:${deviceId}`
