import {
  banReason,
  duration,
  durationUnits,
  instant,
  licenseTerm,
  termsFields,
  unlimited,
} from '@keyward/contract'
import { toFlag } from '@keyward/contract/imported-files'
import { toEpochMs } from '../../core/clock.ts'
import { toAccessEnd } from '../../db/stored-end.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import { termsOf } from '../license-types/license-types.rules.ts'
import type { Ban } from '../licenses/licenses.issue.ts'
import {
  forever as foreverTerms,
  fromFirstUse,
  type LicenseTerms,
  untilDate,
} from '../licenses/licenses.rules.ts'
import { forever, readMoment } from './presets/values.ts'
import type { Cells } from './rows.ts'

export interface ReadTerms {
  terms: LicenseTerms
  ban: Ban | null
  /** The type whose terms it gets. */
  type: LicenseTypeRow | undefined
}

class LineError extends Error {}
const fail = (message: string): never => {
  throw new LineError(message)
}

/** Reads the terms of a license from the cells of a list, or says why it cannot. Empty cells come from the type. */
export function readTerms(
  sent: Cells,
  types: ReadonlyMap<string, LicenseTypeRow>,
  now: number,
): ReadTerms | { problem: string } {
  const cells = withForever(sent)
  const type = cells.type === undefined ? undefined : types.get(cells.type.toLowerCase())
  try {
    const base = readTerm(cells, type, now)
    const terms = { ...base, ...readDetails(cells), type_id: type?.id ?? null }
    const end = readEnd(cells)
    if (end !== undefined) terms.expires_at = toAccessEnd(end, terms.grace_days)
    if (terms.expires_at <= now) fail('The expiry must be in the future')
    return { terms, ban: readBan(cells), type }
  } catch (error) {
    if (!(error instanceof LineError)) throw error
    return { problem: error.message }
  }
}

/** Lists of other systems write the words in place of a date or duration. */
function withForever({ expiresAt, duration, ...cells }: Cells): Cells {
  if (forever.test(expiresAt ?? duration ?? '')) return { term: 'forever', ...cells }
  return {
    ...cells,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(duration !== undefined && { duration }),
  }
}

function readTerm(cells: Cells, type: LicenseTypeRow | undefined, now: number): LicenseTerms {
  const { expiresAt } = cells
  const base = type ? termsOf(type, now) : undefined
  if (cells.term === undefined && cells.duration === undefined && expiresAt === undefined) {
    if (base) return base
    if (cells.type !== undefined) return fail(`The application has no license type ${cells.type}`)
  }
  const termName =
    cells.term ?? (cells.duration !== undefined && expiresAt === undefined ? 'first_use' : 'date')
  const term = licenseTerm.safeParse(termName).data ?? fail('term must be date, forever or first_use')
  const columns = termColumns(term, cells)
  if (!base) return columns
  const { duration_value, duration_unit, started_at, expires_at } = columns
  return { ...base, term, duration_value, duration_unit, started_at, expires_at }
}

function termColumns(term: 'date' | 'forever' | 'first_use', cells: Cells): LicenseTerms {
  const end = readEnd(cells)
  if (term === 'forever') {
    if (end !== undefined) fail('A license that never expires has no expiresAt')
    return foreverTerms()
  }
  if (term === 'date') {
    if (end === undefined) fail('expiresAt must be an ISO 8601 date or date-time')
    return untilDate(end ?? 0)
  }
  const terms = fromFirstUse(readDuration(cells.duration))
  if (end === undefined && cells.startedAt === undefined) return terms
  const startedAt = readInstant('startedAt', cells.startedAt)
  if (end === undefined || startedAt === undefined) fail('A started license has both startedAt and expiresAt')
  return { ...terms, started_at: startedAt ?? null }
}

function readDuration(cell = '') {
  const [, value, unit] = /^(\d{1,6}) (hour|day|month|year)s?$/i.exec(cell) ?? []
  const units = durationUnits.find((name) => name === `${unit?.toLowerCase()}s`)
  const parsed = duration.safeParse({ value: Number(value), unit: units })
  return parsed.data ?? fail('duration must be like 30 days: hours, days, months or years, at most 100 years')
}

const readEnd = ({ expiresAt }: Cells) => readInstant('expiresAt', expiresAt)

function readInstant(name: string, cell: string | undefined): number | undefined {
  if (cell === undefined) return undefined
  if (instant.safeParse(cell).success) return toEpochMs(cell)
  const moment = readMoment(cell)
  if ('ms' in moment) return moment.ms
  const isOpen = 'ambiguous' in moment
  return fail(
    `${name} must be an ISO 8601 date or date-time${isOpen ? ': the day or the month can be first' : ''}`,
  )
}

/** A spreadsheet may write 7 as 7,0; 1.000 is a thousand in some languages and one in others. */
const toNumber = (cell: string): number => Number(/^(-?\d+)(?:[.,]0{1,2})?$/.exec(cell)?.[1] ?? Number.NaN)

type Details = Partial<
  Pick<
    LicenseTerms,
    'grace_days' | 'devices' | 'seats' | 'seat_timeout_seconds' | 'features' | 'updates_for_days' | 'trial'
  >
>

function readDetails(cells: Cells): Details {
  const number = (name: 'graceDays' | 'devices' | 'seatTimeoutSeconds', cell: string | undefined) =>
    cell === undefined ? undefined : check(name, cell === 'unlimited' ? unlimited : toNumber(cell))
  const orNull = (name: 'seats' | 'updatesForDays') =>
    cells[name] === undefined ? undefined : check(name, cells[name] === '' ? null : toNumber(cells[name]))
  const features =
    cells.features === undefined ? undefined : check('features', cells.features.split(/\s+/).filter(Boolean))
  return defined({
    grace_days: number('graceDays', cells.graceDays),
    devices: number('devices', cells.devices),
    seats: orNull('seats'),
    seat_timeout_seconds: number('seatTimeoutSeconds', cells.seatTimeoutSeconds),
    features: features && JSON.stringify(features),
    updates_for_days: orNull('updatesForDays'),
    trial: cells.trial === undefined ? undefined : readFlag('trial', cells.trial),
  })
}

function check<Name extends keyof typeof termsFields>(name: Name, value: unknown) {
  const parsed = termsFields[name].safeParse(value)
  if (!parsed.success) return fail(`${name}: ${parsed.error.issues[0]?.message}`)
  return parsed.data as NonNullable<ReturnType<(typeof termsFields)[Name]['parse']>>
}

function readFlag(name: 'trial' | 'banned', cell: string): 0 | 1 {
  const flag = toFlag(cell)
  return flag === undefined ? fail(`${name} must be true or false`) : flag ? 1 : 0
}

/** The ban of an exported license; without it a blocked key would work again in another app. */
function readBan({ banned = 'false', banReason: reason }: Cells): Ban | null {
  const isBanned = readFlag('banned', banned) === 1
  if (!isBanned) return reason === undefined ? null : fail('A license that is not banned has no banReason')
  const { data, error } = banReason.safeParse(reason ?? '')
  return { reason: data || (error ? fail(`banReason: ${error.issues[0]?.message}`) : null) }
}

const defined = (columns: { [Name in keyof Details]: Details[Name] | undefined }): Details =>
  Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
