import { createHmac } from 'node:crypto'
import {
  isPlaceholderId,
  type PartName,
  partNames,
  partsThatDecide,
  placeholderIds,
  placeholderParts,
  type SentDevice,
  unlimited,
} from '@keyward/contract'
import { hour } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import type { DeviceRow } from '../../db/tables.ts'

export type Parts = Record<PartName, string | null>

/** The machine that a program runs on. */
export interface Machine {
  /** As the program sent it. */
  hwid: string
  /** SHA-256 of the hardware id without white space at its ends. */
  hash: string
  /** SHA-256 of the hardware id as it was sent; earlier versions bound devices by it. */
  sentHash: string
  name: string | null
  system: string | null
  /** Null where the machine has no usable value. */
  parts: Parts
}

const labelLength = 64
const noParts: Parts = { machine: null, board: null, disk: null, network: null }

/** The machine that a program sent; undefined without a hardware id. `hash` is that of the trimmed id, if it is known. */
export function toMachine(
  appId: string,
  hwid: string | undefined,
  device: SentDevice | undefined,
  hash?: string,
): Machine | undefined {
  if (!hwid) return undefined
  const label = (text: string | undefined) => (text ? toLabel(text) : null)
  const parts = device?.parts ? toParts(appId, device.parts) : noParts
  const trimmed = hwid.trim()
  const compared = hash ?? sha256(trimmed)
  return {
    hwid,
    hash: compared,
    sentHash: trimmed === hwid ? compared : sha256(hwid),
    name: label(device?.name),
    system: label(device?.system),
    parts,
  }
}

/** The hash of the hardware id that a program sent, from the hash that identifies its machine. */
export const sentHash = (hwidHash: string): string => hwidHash.slice(0, 64)

/** What programs leave at the ends of an id: earlier versions bound devices by the hash of all that was sent. */
const looseEnds = ['\n', '\r\n', ' ', ' \n', ' \r\n', '\t', '\0']

/** The hashes by which a machine may have been bound when its program did not trim the id. */
export const looseHashes = ({ hwid }: Machine): string[] =>
  looseEnds.map((end) => sha256(`${hwid.trim()}${end}`))

const hashPrefix = 'sha256:'

/** A machine that has never been online: only the hash of its hardware id is known. */
export const toOfflineMachine = (hash: string): Machine => ({
  hwid: `${hashPrefix}${hash}`,
  hash,
  sentHash: hash,
  name: null,
  system: null,
  parts: noParts,
})

const gluedPrefix = 'glued:'
/** The serial number of a Mac; a shorter id could be a piece of another one. */
const gluedLeast = 10

/** Stands for devices of another system whose hardware ids it wrote one behind the other. */
export function toGluedMachine(text: string): Machine {
  const hwid = `${gluedPrefix}${text}`
  // No hardware id that a program sends has this hash.
  const hash = `${gluedPrefix}${sha256(text)}`
  return { hwid, hash, sentHash: hash, name: null, system: null, parts: noParts }
}

/** The hash of the devices that a text stands for; undefined for a hardware id. */
export const gluedHashOf = (hwid: string | null): string | undefined =>
  hwid?.startsWith(gluedPrefix) ? toGluedMachine(hwid.slice(gluedPrefix.length)).hash : undefined

/** Whether a hardware id begins or ends a text of several. */
export function isGlued(glued: string, machine: Pick<Machine, 'hwid'>): boolean {
  const text = glued.slice(gluedPrefix.length)
  const hwid = machine.hwid.trim()
  return hwid.length >= gluedLeast && (text.startsWith(hwid) || text.endsWith(hwid))
}

/** Parses a hardware id from an owner; exports write `sha256:…` where only the hash is known. */
export function toNamedMachine(appId: string, hwid: string | undefined): Machine | undefined {
  const [, hash] = /^sha256:([0-9a-f]{64})$/.exec(hwid ?? '') ?? []
  return hash === undefined ? toMachine(appId, hwid, undefined) : toOfflineMachine(hash)
}

/** Whether the hardware id itself is not known. */
export const isHashOnly = ({ hwid, hash }: Pick<Machine, 'hwid' | 'hash'>): boolean =>
  hwid === `${hashPrefix}${hash}`

/** Whether many machines send this hardware id: it counts as missing, unless it is already bound. */
export const isPlaceholder = (machine: Pick<Machine, 'hwid' | 'hash'>): boolean =>
  isHashOnly(machine) ? placeholderHashes().has(machine.hash) : isPlaceholderId(machine.hwid)

let hashesOfPlaceholders: ReadonlySet<string> | undefined

/** The hashes of usual spellings: an activation request has no more than a hash. */
function placeholderHashes(): ReadonlySet<string> {
  const digits = ['0', 'f', 'F'].flatMap((digit) => [8, 12, 16, 32, 64].map((count) => digit.repeat(count)))
  const uuids = ['0', 'f', 'F'].map((digit) => [8, 4, 4, 4, 12].map((count) => digit.repeat(count)).join('-'))
  const ids = ['', ' ', '0', ...digits, ...uuids, ...placeholderIds]
  hashesOfPlaceholders ??= new Set(
    ids.flatMap((id) => [id, id.toLowerCase(), id.toUpperCase()]).map((id) => sha256(id)),
  )
  return hashesOfPlaceholders
}

/** Removes what could imitate other text on a screen: control, direction and other invisible characters. */
function toLabel(text: string): string | null {
  const visible = text
    .replace(/\s/g, ' ')
    .replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/ +/g, ' ')
  return [...visible.trim()].slice(0, labelLength).join('') || null
}

const toParts = (appId: string, sent: { [Name in PartName]?: string | undefined }): Parts =>
  Object.fromEntries(
    partNames.map((name) => {
      const part = (sent[name] ?? '').toLowerCase()
      return [name, part === '' || placeholders(appId).has(part) ? null : part]
    }),
  ) as Parts

/** The salted hash of a part, as programs compute it. */
export const hashPart = (appId: string, name: PartName, value: string): string =>
  createHmac('sha256', `keyward-part-v1:${appId}:${name}`).update(value).digest('hex')

const appsKept = 200
const placeholdersOf = new Map<string, ReadonlySet<string>>()

/** The hashes of placeholders, which differ by app. */
function placeholders(appId: string): ReadonlySet<string> {
  const kept = placeholdersOf.get(appId)
  if (kept) return kept
  const hashes = partNames.flatMap((name) => placeholderParts.map((text) => hashPart(appId, name, text)))
  const all = new Set([...hashes, '0'.repeat(64), 'f'.repeat(64), sha256('')])
  if (placeholdersOf.size >= appsKept) placeholdersOf.clear()
  placeholdersOf.set(appId, all)
  return all
}

export const canDecide = (parts: Parts): boolean =>
  partNames.filter((name) => parts[name] !== null).length >= partsThatDecide

/** Whether so many parts differ that the same hardware id is on two machines: a cloned disk, a shared image. */
export const differs = (known: Parts, sent: Parts): boolean =>
  partNames.filter((name) => known[name] !== null && sent[name] !== null && known[name] !== sent[name])
    .length >= partsThatDecide

/** The parts that were sent, and the known ones where none was. */
export const merged = (known: Parts, sent: Parts): Parts =>
  Object.fromEntries(partNames.map((name) => [name, sent[name] ?? known[name]])) as Parts

const driftsMax = 5

/** How often a device drifted, and since when. */
export type Drift = Pick<DeviceRow, 'drifts' | 'drifting_since'>

/** The counter after one more drift; undefined if there were too many within the cooldown. */
export function nextDrift(
  { drifts, drifting_since: since }: Drift,
  cooldownHours: number,
  now: number,
): Drift | undefined {
  if (since === null || now - since >= cooldownHours * hour) return { drifts: 1, drifting_since: now }
  return drifts < driftsMax ? { drifts: drifts + 1, drifting_since: since } : undefined
}

/** How many devices an end user may have: as many as its keys say, one without a key. */
export const deviceLimit = (
  license: { devices: number; seats: number | null } | null | undefined,
): number => {
  if (!license) return 1
  return license.seats === null ? license.devices : unlimited
}

/** What recognizes a machine, also after one of its four parts or its hardware id has changed. */
export const marksOf = ({ hash, sentHash, parts }: Machine): string[] =>
  [...new Set([`hwid:${hash}`, `hwid:${sentHash}`]), ...partMarksOf(parts)].sort()

/** What three equal parts of four have in common. */
export function partMarksOf(parts: Parts): string[] {
  const known = partNames.filter((name) => parts[name] !== null)
  const triples = known.flatMap((first, at) =>
    known
      .slice(at + 1)
      .flatMap((second, next) => known.slice(at + next + 2).map((third) => [first, second, third])),
  )
  const toText = (names: PartName[]) => names.map((name) => `${name}=${parts[name]}`).join('\n')
  return triples.map((names) => `parts:${sha256(toText(names))}`)
}
