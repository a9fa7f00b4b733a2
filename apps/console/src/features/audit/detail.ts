import type { AuditRecord } from '@keyward/contract'
import { formatMoment } from '../../lib/format/dates.ts'
import { shortIfKey } from '../../lib/format/end-user-name.ts'
import { formatNumber } from '../../lib/format/numbers.ts'

/** A field of a detail in words; `before` and `after` if it changed. */
export interface DetailRow {
  field: string
  before: string | undefined
  after: string
}

type Fields = Record<string, unknown>
type Names = ReadonlyMap<string, string>

/** Times are stored in milliseconds since 1970. */
const isTime = (field: string, value: number) =>
  /(At|Until|Since)$|^(from|until|before|after)$/.test(field) && value > 1e11

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Long parts are stored as a count and a digest. */
const isShortened = (value: Fields) =>
  typeof value.count === 'number' && typeof value.digest === 'string' && Object.keys(value).length === 2

const terms: Record<string, string> = {
  appId: 'App',
  endUserId: 'User',
  licenseId: 'License',
  resellerId: 'Reseller',
  orderId: 'Order',
  ids: 'Objects',
  kid: 'Key',
  hwid: 'HWID',
  hwidLock: 'HWID lock',
}

/** 'expiresAt' as 'Expires at'. */
export function fieldName(field: string): string {
  const words = field
    .replace(/([A-Z])/g, ' $1')
    .replaceAll(/[_.]/g, ' ')
    .toLowerCase()
  return terms[field] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

function inWords(field: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return isTime(field, value) ? formatMoment(value) : formatNumber(value)
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.map((each) => inWords('', each)).join(', ')
  if (!isFields(value)) return String(value)
  if (isShortened(value))
    return `${formatNumber(Number(value.count))} entries or characters, too long to keep`
  const parts = Object.entries(value).map(([name, each]) => `${fieldName(name)}: ${inWords(name, each)}`)
  return parts.length === 0 ? 'none' : parts.join(', ')
}

/**
 * The name of an actor or a subject; its id if it has no name, or none that the caller may read. An end user of whom no
 * more is known has the beginning of its key.
 */
export const nameOf = ({ name, _id }: { name: string | null; _id: string }): string =>
  name !== null && _id.startsWith('usr_') ? shortIfKey(name) : (name ?? _id)

/** What a record calls the objects whose ids its detail has. */
export const namesIn = ({ app, actor, subject }: Pick<AuditRecord, 'app' | 'actor' | 'subject'>): Names =>
  new Map([app, actor, subject].flatMap((one) => (one && one.name !== null ? [[one._id, nameOf(one)]] : [])))

/** The fields of a record's detail, with names for ids. Of a change, those that differ, before and after. */
export function toRows(detail: Fields, names: Names = new Map()): DetailRow[] {
  const { before, after, ...others } = detail
  const plain = Object.entries(others).map(([field, value]) => ({
    field: fieldName(field),
    before: undefined,
    after: (typeof value === 'string' && names.get(value)) || inWords(field, value),
  }))
  if (!('before' in detail || 'after' in detail)) return plain
  if (!isFields(before ?? {}) || !isFields(after ?? {}) || (!isFields(before) && !isFields(after))) {
    return [...plain, { field: 'Value', before: inWords('before', before), after: inWords('after', after) }]
  }
  const [was, is] = [before, after].map((side) => (isFields(side) ? side : {})) as [Fields, Fields]
  if (isShortened(was) || isShortened(is)) {
    return [...plain, { field: 'Values', before: inWords('', was), after: inWords('', is) }]
  }
  const fields = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  const changed = fields
    .map((field) => ({
      field: fieldName(field),
      before: inWords(field, was[field]),
      after: inWords(field, is[field]),
    }))
    .filter((row) => row.before !== row.after)
  return [...plain, ...changed]
}
