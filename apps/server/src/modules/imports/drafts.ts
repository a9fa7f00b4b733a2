import { email, isPlaceholderId, licenseNote, limits, banReason as reasonSchema } from '@keyward/contract'
import { addDuration, day, hour, lastInstant, second } from '../../core/clock.ts'
import { newId, newLicenseKey, normalizeKey, normalizeName } from '../../core/ids.ts'
import { isImportedHash, missingPassword } from '../../core/passwords/imported-hashes.ts'
import { prepareUsername } from '../../core/username.ts'
import { never, toAccessEnd } from '../../db/stored-end.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import { type Machine, toGluedMachine, toMachine } from '../devices/devices.rules.ts'
import type { ImportedEndUser } from '../entitlements/imported-rows.ts'
import type { NewLicense } from '../entitlements/license-rows.ts'
import { toDuration } from '../entitlements/terms.rules.ts'
import { termsOf } from '../license-types/license-types.rules.ts'
import { forever, fromFirstUse, type LicenseTerms, untilDate } from '../licenses/licenses.rules.ts'
import type { Cells, ImportedEnd, ImportedLicense, ImportedUser } from './rows.ts'
import { readTerms } from './terms.ts'

type Read<Row> = Omit<Row, 'file' | 'line' | 'problem' | 'skip'>
export type ReadLicense = Read<ImportedLicense>
export type ReadUser = Read<ImportedUser>

/** Where the licenses and end users go. */
export interface Target {
  ownerId: string
  appId: string
  /** The app's license types by their names in lower case. */
  types: ReadonlyMap<string, LicenseTypeRow>
  now: number
}

export interface LicenseDraft {
  license: NewLicense & { used: 0 | 1; used_at: number | null }
  hints: string[]
}

export interface UserDraft {
  client: ImportedEndUser
  /** Its own license first, then those that were added. */
  licenses: LicenseDraft[]
  machines: Machine[]
  isPaused: boolean
  emailSha1: string | null
  hints: string[]
}

const century = 36_525 * day

/** The license of a row without an end user, or the reason why it cannot be created. */
export function draftLicense(read: ReadLicense, target: Target): LicenseDraft | { problem: string } {
  if (read.cells) return draftListed(read, read.cells, target)
  const hints = read.hint === undefined ? [] : [read.hint]
  const terms = toTerms(read.end, read.type, target, hints)
  const isUsed = read.status === 'used' || read.status === 'paused'
  if (isUsed) hints.push('It was used by someone who is not in the files, so no one can redeem it.')
  return { license: toLicense(read, terms, isUsed, target), hints }
}

function draftListed(read: ReadLicense, cells: Cells, target: Target): LicenseDraft | { problem: string } {
  const sold = readTerms(cells, target.types, target.now)
  if ('problem' in sold) return sold
  const { terms, ban, type } = sold
  const prefix = type?.key_prefix ? `${type.key_prefix}-` : ''
  const license = toLicense(
    {
      ...read,
      key: read.key || `${prefix}${newLicenseKey()}`,
      ...(ban && { status: 'banned', ...(ban.reason !== null && { banReason: ban.reason }) }),
    },
    terms,
    false,
    target,
  )
  return { license, hints: hintsOf(read) }
}

/** An end user with its licenses; one without a key gets a license of its own. */
export function draftUser(read: ReadUser, keys: readonly ReadLicense[], target: Target): UserDraft {
  const hints = read.hint === undefined ? [] : [read.hint]
  const username = prepareUsername(read.username.trim())
  const isNamedAfterKey = keys.some((one) => normalizeKey(one.key) === normalizeKey(username))
  const machines = toMachines(read, keys, target.appId, hints)
  const [own, ...added] = keys
  const type = own?.type ?? read.type
  const base = toTerms(read.end ?? own?.end, type, target, hints)
  const end = toUserEnd(read, base, target.now)
  const terms = { ...base, ...toTerm(end), started_at: null }
  const devices = own?.devicesMax ?? (base.type_id === null ? Math.max(1, machines.length) : base.devices)
  const first: ReadLicense = own ?? { kind: 'license', key: newLicenseKey(), status: 'used' }
  const licenses = [
    { license: toLicense({ ...first, devicesMax: devices }, terms, true, target), hints: hintsOf(own) },
    ...added.map((one) => {
      const ends = { ...toTerms(one.end, one.type, target, []), ...toTerm(end), started_at: null }
      return { license: toLicense(one, ends, true, target), hints: hintsOf(one) }
    }),
  ]
  const passwordHash = isNamedAfterKey ? null : toPasswordHash(read, hints)
  const isPaused = read.pausedSeconds !== undefined || own?.status === 'paused'
  const [machine] = machines
  const client: ImportedEndUser = {
    id: newId('usr'),
    owner_id: target.ownerId,
    app_id: target.appId,
    license_id: licenses[0]?.license.id ?? null,
    username,
    username_normalized: normalizeName(username),
    email: toEmail(read, hints),
    password_hash: passwordHash,
    hwid: machine?.hwid ?? null,
    hwid_hash: machine?.hash ?? null,
    device_count: machines.length,
    expires_at: terms.expires_at,
    grace_days: terms.grace_days,
    banned: read.banReason === undefined ? 0 : 1,
    ban_reason: read.banReason === undefined ? null : toText(reasonSchema, read.banReason, 200),
    last_login_at: null,
    created_at: target.now,
  }
  const emailSha1 = client.email === null ? toEmailHash(read.emailSha1) : null
  const isHeld = isPaused && terms.expires_at !== never
  return { client, licenses, machines, emailSha1, hints, isPaused: isHeld }
}

const hintsOf = (read: ReadLicense | undefined): string[] => (read?.hint === undefined ? [] : [read.hint])

function toLicense(
  read: ReadLicense,
  terms: LicenseTerms,
  isUsed: boolean,
  { ownerId, appId, now }: Target,
): LicenseDraft['license'] {
  const note = [read.note, read.reference].filter((part) => part !== undefined && part !== '').join(' · ')
  const key = read.key.trim()
  const isBanned = read.status === 'banned'
  return {
    id: newId('lic'),
    owner_id: ownerId,
    app_id: appId,
    reseller_id: null,
    customer_id: null,
    key,
    key_normalized: normalizeKey(key),
    note: toText(licenseNote, note, 200),
    ...terms,
    devices: read.devicesMax === undefined ? terms.devices : toDevices(read.devicesMax),
    banned: isBanned ? 1 : 0,
    ban_reason: isBanned && read.banReason !== undefined ? toText(reasonSchema, read.banReason, 200) : null,
    test: 0,
    created_at: now,
    used: isUsed ? 1 : 0,
    used_at: isUsed ? now : null,
  }
}

const toDevices = (count: number): number =>
  count < 0 ? -1 : Math.min(limits.devicesMax, Math.max(1, Math.round(count)))

/** The columns of an end; what lasts a century or longer never ends. */
function toTerm(
  end: ImportedEnd,
): Pick<LicenseTerms, 'term' | 'duration_value' | 'duration_unit' | 'expires_at'> {
  const { term, duration_value, duration_unit, expires_at } = columnsOf(end)
  return { term, duration_value, duration_unit, expires_at }
}

function columnsOf(end: ImportedEnd): LicenseTerms {
  if (end === 'never') return forever()
  if ('at' in end) return end.at > lastInstant ? forever() : untilDate(Math.max(0, Math.round(end.at)))
  const ms = Math.max(1, Math.ceil(end.seconds)) * second
  if (ms >= century) return forever()
  return fromFirstUse(
    ms % day === 0 ? { value: ms / day, unit: 'days' } : { value: Math.ceil(ms / hour), unit: 'hours' },
  )
}

function toTerms(
  end: ImportedEnd | undefined,
  typeName: string | undefined,
  { types, now }: Target,
  hints: string[],
): LicenseTerms {
  const type = typeName === undefined ? undefined : types.get(typeName.trim().toLowerCase())
  if (typeName !== undefined && !type) hints.push(`The app has no license type ${shown(typeName)}.`)
  if (!type) return end === undefined ? forever() : columnsOf(end)
  const base = termsOf(type, now)
  if (end === undefined) return base
  const { expires_at, ...term } = toTerm(end)
  return {
    ...base,
    ...term,
    expires_at: expires_at === never ? never : toAccessEnd(expires_at, base.grace_days),
  }
}

/** When the access of an end user ends: a duration counts from now, as does what a pause kept. */
function toUserEnd(read: ReadUser, terms: LicenseTerms, now: number): ImportedEnd {
  const { pausedSeconds } = read
  if (pausedSeconds !== undefined) return { at: toAccessEnd(now + pausedSeconds * second, terms.grace_days) }
  if (terms.term !== 'first_use') return terms.expires_at === never ? 'never' : { at: terms.expires_at }
  const duration = toDuration(terms)
  return { at: toAccessEnd(duration === null ? now : addDuration(now, duration), terms.grace_days) }
}

/** As many characters as the old system kept of all hardware ids of an end user. */
const gluedMost = 2000

function toMachines(read: ReadUser, keys: readonly ReadLicense[], appId: string, hints: string[]): Machine[] {
  const hwids = [...(read.devices ?? []), ...keys.flatMap((key) => key.devices ?? [])].filter(Boolean)
  const named = [...new Set(hwids)].filter((hwid) => !isPlaceholderId(hwid))
  const kept = named.filter((hwid) => isStorable(hwid, limits.hwidMax))
  const glued = read.gluedDevices === undefined ? [] : [read.gluedDevices]
  const keptGlued = glued.filter((text) => isStorable(text, gluedMost))
  if (kept.length < named.length || keptGlued.length < glued.length)
    hints.push('A hardware id could not be taken along.')
  const machines = kept.slice(0, limits.devicesMax).flatMap((hwid) => toMachine(appId, hwid, undefined) ?? [])
  return [...machines, ...keptGlued.map(toGluedMachine)]
}

const isStorable = (text: string, most: number): boolean =>
  text.length <= most && text.isWellFormed() && !text.includes('\0')

function toPasswordHash(read: ReadUser, hints: string[]): string {
  const { passwordHash } = read
  if (passwordHash !== undefined && isImportedHash(passwordHash)) return passwordHash
  hints.push(
    passwordHash === undefined
      ? 'It has no password. Give it one.'
      : 'Its password could not be taken along. Give it a new one.',
  )
  return missingPassword
}

function toEmail(read: ReadUser, hints: string[]): string | null {
  if (read.email === undefined || read.email === '') return null
  const parsed = email.safeParse(read.email)
  if (!parsed.success) hints.push('Its e-mail address is not valid.')
  return parsed.success ? parsed.data : null
}

const toEmailHash = (hash: string | undefined): string | null =>
  hash !== undefined && /^[0-9a-f]{40}$/i.test(hash) ? hash.toLowerCase() : null

/** A text of another system within the bounds of a field; null if nothing is left. */
function toText(
  schema: { safeParse: (value: string) => { data?: string | undefined } },
  text: string,
  most: number,
): string | null {
  return schema.safeParse(shown(text, most)).data || null
}

const shown = (text: string, most = 64): string =>
  text
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
    .slice(0, most)
    .toWellFormed()
