// Ends and rights in one form: as the columns of before grants say them, and as grants do.
import { day } from '../../src/core/clock.ts'
import { held, never } from '../../src/db/stored-end.ts'
import type { Tables } from './rows.ts'

type Row = Record<string, unknown>
type Numbers = Record<string, number | null>

/** The tables, with the rights of every end user, what every key gave, and what pauses hold as grants say it. */
export function withAccess(tables: Tables): Tables {
  const { licenses, clients, grants } = tables
  if (!licenses || !clients) throw new Error('There are no licenses or end users')
  if (grants) {
    const all = Object.values(grants.rows)
    return {
      ...tables,
      clients: changed(clients, (row) => ({ ...row, rights: storedRights(row) })),
      licenses: changed(licenses, (row) => ({ ...row, added: grantedBy(row, all, licenses.rows) })),
    }
  }
  const ofUsers = new Map(Object.values(clients.rows).map((row) => [row.license_id, heldOf(row as Numbers)]))
  return {
    ...tables,
    clients: changed(clients, (row) => ({
      ...without(row, /^added_/),
      ...heldOf(row as Numbers),
      ...rightsBefore(row),
    })),
    licenses: changed(licenses, (row) => ({
      ...without(row, /^(added|taken)_ms$/),
      expires_at: ofUsers.get(row.id)?.expires_at ?? row.expires_at,
      added: givenBy(row as Numbers),
    })),
  }
}

const changed = (table: Tables[string], change: (row: Row) => Row): Tables[string] => ({
  ...table,
  rows: Object.fromEntries(Object.entries(table.rows).map(([id, row]) => [id, change(row)])),
})

const without = (row: Row, names: RegExp): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.test(name)))

/** The end of an end user, and the time that a pause holds. */
function heldOf({ paused_at = null, expires_at = null }: Numbers) {
  const isHeld = paused_at !== null && expires_at !== null && expires_at > paused_at && expires_at < never
  return isHeld ? { expires_at: held, left_ms: expires_at - paused_at } : { expires_at, left_ms: null }
}

/** What the added keys of an end user allow; nothing in a state that did not keep it. */
function rightsBefore(row: Row): { rights?: unknown } {
  if (row.added_features === undefined) return {}
  if (row.added_features === null) return { rights: [] }
  const { added_devices: devices, added_seats: seats, added_seat_timeout: timeout } = row
  const features: unknown = JSON.parse(String(row.added_features))
  const ends = { until: null, graceDays: 0 }
  return { rights: [{ devices, seats, seat_timeout_seconds: timeout ?? 0, features, ...ends }] }
}

function storedRights({ added_rights: stored }: Row) {
  const rights = JSON.parse(String(stored ?? '[]')) as Row[]
  return rights.map((one) => ({ ...one, features: JSON.parse(String(one.features)) }))
}

/** What a key gave: the time, what was kept of it when it was taken back, and the end that it hides. */
function givenBy({ added_ms: added = null, taken_ms: taken = null }: Numbers) {
  if (added === null) return null
  if (added >= 0) return { time: added, kept: taken === null ? null : added - taken, hidden: null }
  return { time: null, kept: taken === null ? null : 0, hidden: taken === null ? -added : null }
}

function grantedBy(key: Row, grants: readonly Row[], licenses: Record<string, Row>) {
  const grant = grants.find(
    ({ kind, source_kind, source_id }) => kind === 'time' && source_kind === 'key' && source_id === key.id,
  )
  if (!grant) return null
  const { moved_ms: time, kept_ms: kept, withdrawn_at } = grant
  const own = grants.filter(
    ({ license_id, client_id }) => license_id === grant.license_id && client_id === grant.client_id,
  )
  const term = own.find(({ kind }) => kind === 'term')
  const moved = own.reduce(
    (sum, one) => sum + Number(one.withdrawn_at === null ? one.moved_ms : one.kept_ms),
    0,
  )
  const isHiding = time === null && withdrawn_at === null && term?.until != null
  const grace = Number(licenses[String(grant.license_id)]?.grace_days ?? 0) * day
  return { time, kept, hidden: isHiding ? Number(term.until) + moved + grace : null }
}
