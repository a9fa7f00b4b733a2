import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { Actor, OwnerScope } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import { type Db, foundInScope, insert, isIn, send, type Tx, type WriteTransaction } from '../../db/index.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { ClientRow, GrantRow, LicenseRow } from '../../db/tables.ts'
import {
  type Access,
  accessOf,
  columnsOf,
  type Grant,
  joined,
  type Terms,
  termColumns,
} from './access.rules.ts'
import { lockLicensesOf, lockWithUsersLicenses } from './license-locks.ts'
import { toAddedRights } from './rights.rules.ts'

// The one way in which access changes: rows of `grants` are added or changed, and what they fold to is written to the
// columns of the license and its end user in the same transaction.

/** What has an end of its own: a license, with the end user whose first one it is, or an end user without a license. */
export interface Holder {
  /** The id of the license, or else of the end user. */
  id: string
  owner_id: string
  app_id: string
  license:
    | (Terms &
        Pick<
          LicenseRow,
          'id' | 'started_at' | 'client_id' | 'used_at' | 'expires_at' | 'grace_days' | 'created_at'
        >)
    | null
  client: Pick<
    ClientRow,
    'id' | 'expires_at' | 'grace_days' | 'left_ms' | 'paused_at' | 'added_rights' | 'created_at'
  > | null
  grants: Grant[]
  access: Access
}

/** A grant to add; the columns that it does not name are empty. */
export type NewGrant = Pick<GrantRow, 'kind' | 'source_kind' | 'source_id'> &
  Partial<Pick<GrantRow, 'until' | 'moved_ms' | 'gap_ms' | 'rights_until' | 'terms'>> & { key?: Grant['key'] }

/** What a change does to the grants of a holder. */
export interface Change {
  added?: readonly NewGrant[]
  /** Grants that the holder has, as they are afterwards. */
  changed?: readonly Grant[]
}

/** Which holders: those of licenses, or of end users. */
export type Which = { licenses: readonly string[] } | { clients: readonly string[] }

export const graceDaysOf = ({ license, client }: Pick<Holder, 'license' | 'client'>): number =>
  (license ?? client)?.grace_days ?? 0

/** The end of a holder that people see; null for never. */
export function endOfHolder({ license, client, access }: Holder, now: number): number | null {
  const graceDays = graceDaysOf({ license, client })
  return displayedEnd({ ...columnsOf(access, graceDays), grace_days: graceDays }, now)
}

/** Where a change comes from. */
export function sourceOf(actor: Actor): Pick<GrantRow, 'source_kind' | 'source_id'> {
  if (actor.kind === 'owner' || actor.kind === 'member' || actor.kind === 'api_key')
    return { source_kind: 'person', source_id: actor.actorId }
  return { source_kind: 'program', source_id: null }
}

/**
 * Changes what was granted to holders, and writes what follows from it. Locks the licenses that share an end with them.
 * Returns the holders as they are then, by their ids.
 */
export async function changeAccess(
  { tx, now }: Pick<WriteTransaction, 'tx' | 'now'>,
  scope: OwnerScope,
  which: Which,
  change: (holder: Holder) => Change | undefined,
): Promise<Map<string, Holder>> {
  if ('licenses' in which) await lockWithUsersLicenses(tx, scope, which.licenses)
  else await lockLicensesOf(tx, scope, which.clients)
  const holders = await readHolders(tx, scope, which)
  const after = holders.map((holder) => changed(holder, change(holder), now))
  await writeGrants(tx, holders, after)
  const written = await writeColumns(tx, after, now)
  return new Map(written.map((holder) => [holder.id, holder]))
}

/** Writes what follows from columns that a transaction has changed: grace days, and rights of added keys. */
export const settleAccess = (
  write: Pick<WriteTransaction, 'tx' | 'now'>,
  scope: OwnerScope,
  which: Which,
): Promise<Map<string, Holder>> => changeAccess(write, scope, which, () => undefined)

/** A holder after a change. The first one also stores what the columns said before. */
function changed(holder: Holder, change: Change | undefined, now: number): Holder {
  const { added = [], changed = [] } = change ?? {}
  if (added.length + changed.length === 0) return holder
  const byId = new Map(changed.map((grant) => [grant.id, grant]))
  const kept = holder.grants.map((grant) => byId.get(grant.id) ?? grant)
  const base = kept.length === 0 ? [baseOf(holder)] : []
  const all = [...base, ...kept, ...added.map((grant) => toGrant(grant, now))]
  const own = ownOf(holder)
  const grants = (all.length > 2 * limits.grantsMax && joined(own, all, limits.grantsMax)) || all
  return { ...holder, grants, access: accessOf(own, grants) }
}

const toGrant = (grant: NewGrant, at: number): Grant => ({
  ...{ id: newId('gra'), at, until: null, moved_ms: null, gap_ms: 0, kept_ms: null, rights_until: null },
  ...{ terms: null, withdrawn_at: null, key: null },
  ...grant,
})

function baseOf(holder: Holder): Grant {
  const { end, terms } = ownOf(holder)
  const { license, client } = holder
  return toGrant(
    {
      ...{ kind: 'term', until: end === never ? null : end, terms: terms && JSON.stringify(terms) },
      ...{ source_kind: 'key', source_id: license?.id ?? null },
    },
    license?.created_at ?? client?.created_at ?? 0,
  )
}

export function ownOf({ license, client }: Pick<Holder, 'license' | 'client'>) {
  const row = license ?? client
  const graceDays = row?.grace_days ?? 0
  return {
    end:
      row === null
        ? never
        : (displayedEnd({ expires_at: row.expires_at, grace_days: graceDays }, 0) ?? never),
    terms: license && termColumns(license),
    startedAt: license?.started_at ?? null,
    graceDays,
  }
}

const columns = [
  'l.id as license_id',
  'l.client_id as used_by',
  'l.used_at',
  'l.expires_at as license_end',
  'l.grace_days as license_grace',
  'l.term',
  'l.duration_value',
  'l.duration_unit',
  'l.started_at',
  'l.created_at as license_created_at',
  'c.id as client_id',
  'c.expires_at as client_end',
  'c.grace_days as client_grace',
  'c.left_ms',
  'c.paused_at',
  'c.added_rights',
  'c.created_at as client_created_at',
] as const

const ofLicenses = (tx: Db, scope: OwnerScope, ids: readonly string[]) =>
  tx
    .selectFrom('licenses as l')
    .leftJoin('clients as c', (join) =>
      join.onRef('c.id', '=', 'l.client_id').onRef('c.license_id', '=', 'l.id'),
    )
    .select(columns)
    .select(['l.owner_id', 'l.app_id'])
    .where(isIn(tx, 'l.id', ids))
    .where(foundInScope(scope, 'l'))
    .orderBy('l.id')
    .execute()

const ofClients = (tx: Db, scope: OwnerScope, ids: readonly string[]) =>
  tx
    .selectFrom('clients as c')
    .leftJoin('licenses as l', 'l.id', 'c.license_id')
    .select(columns)
    .select(['c.owner_id', 'c.app_id'])
    .where(isIn(tx, 'c.id', ids))
    .where(foundInScope(scope, 'c'))
    .orderBy('c.id')
    .execute()

type HolderRow = Awaited<ReturnType<typeof ofLicenses | typeof ofClients>>[number]

/** Reads holders. Within a transaction that changes them, the caller has locked their licenses. */
export async function readHolders(tx: Db, scope: OwnerScope, which: Which): Promise<Holder[]> {
  const [find, ids] = 'licenses' in which ? [ofLicenses, which.licenses] : [ofClients, which.clients]
  if (ids.length === 0) return []
  const found = (await find(tx, scope, ids)).map(toHolder)
  const grants = await readGrants(tx, found)
  return found.map((holder) => {
    const own = grants.get(holder.id) ?? []
    return { ...holder, grants: own, access: accessOf(ownOf(holder), own) }
  })
}

function toHolder(row: HolderRow): Omit<Holder, 'grants' | 'access'> {
  const license = row.license_id !== null && {
    id: row.license_id,
    client_id: row.used_by,
    used_at: row.used_at,
    expires_at: row.license_end as number,
    grace_days: row.license_grace as number,
    term: row.term as Terms['term'],
    duration_value: row.duration_value,
    duration_unit: row.duration_unit,
    started_at: row.started_at,
    created_at: row.license_created_at as number,
  }
  const client = row.client_id !== null && {
    id: row.client_id,
    expires_at: row.client_end as number,
    grace_days: row.client_grace as number,
    left_ms: row.left_ms,
    paused_at: row.paused_at,
    added_rights: row.added_rights,
    created_at: row.client_created_at as number,
  }
  const { owner_id, app_id } = row
  return {
    id: row.license_id ?? row.client_id ?? '',
    owner_id,
    app_id,
    license: license || null,
    client: client || null,
  }
}

/** The grants of holders, oldest first. */
export async function readGrants(
  db: Db,
  holders: readonly Pick<Holder, 'license' | 'client'>[],
): Promise<Map<string, Grant[]>> {
  const licenses = holders.flatMap(({ license }) => license?.id ?? [])
  const clients = holders.flatMap(({ license, client }) => (license ? [] : (client?.id ?? [])))
  if (licenses.length + clients.length === 0) return new Map()
  const rows = await db
    .selectFrom('grants as g')
    .leftJoin('licenses as k', (join) =>
      join.onRef('k.id', '=', 'g.source_id').on('g.source_kind', '=', 'key').on('g.kind', '=', 'time'),
    )
    .selectAll('g')
    .select(['k.devices', 'k.seats', 'k.seat_timeout_seconds', 'k.features', 'k.grace_days', 'k.banned'])
    .where(({ or }) =>
      or([
        ...(licenses.length > 0 ? [isIn(db, 'g.license_id', licenses)] : []),
        ...(clients.length > 0 ? [isIn(db, 'g.client_id', clients)] : []),
      ]),
    )
    .orderBy('g.seq')
    .execute()
  const grants = rows.map(
    ({ devices, seats, seat_timeout_seconds, features, grace_days, banned, ...row }) => ({
      ...row,
      key:
        devices === null ||
        features === null ||
        seat_timeout_seconds === null ||
        grace_days === null ||
        banned === null
          ? null
          : { devices, seats, seat_timeout_seconds, features, grace_days, banned },
    }),
  )
  return Map.groupBy(grants, ({ license_id, client_id }) => license_id ?? client_id ?? '')
}

const columnsOfGrant = ({ key: _, ...grant }: Grant) => ({
  id: grant.id,
  kind: grant.kind,
  at: grant.at,
  until: grant.until,
  moved_ms: grant.moved_ms,
  gap_ms: grant.gap_ms,
  kept_ms: grant.kept_ms,
  rights_until: grant.rights_until,
  terms: grant.terms,
  source_kind: grant.source_kind,
  source_id: grant.source_id,
  withdrawn_at: grant.withdrawn_at,
})

const insertedAtOnce = 500

async function writeGrants(tx: Tx, before: readonly Holder[], after: readonly Holder[]): Promise<void> {
  const known = new Map(before.flatMap(({ grants }) => grants.map((grant) => [grant.id, grant])))
  const added = after.flatMap(({ grants, owner_id, app_id, license, client }) =>
    grants
      .filter(({ id }) => !known.has(id))
      .map((grant) => ({
        ...{
          owner_id,
          app_id,
          license_id: license?.id ?? null,
          client_id: license ? null : (client?.id ?? null),
        },
        ...columnsOfGrant(grant),
      })),
  )
  for (let at = 0; at < added.length; at += insertedAtOnce)
    await send(tx, [insert(tx, 'grants', added.slice(at, at + insertedAtOnce))])
  const changed = after.flatMap(({ grants }) =>
    grants.flatMap((grant) => {
      const before = known.get(grant.id)
      return before && before !== grant ? { id: grant.id, change: differing(before, grant) } : []
    }),
  )
  // Many at once are withdrawn at the same time.
  for (const [change, some] of Map.groupBy(changed, (one) => one.change)) {
    const ids = some.map(({ id }) => id)
    await tx
      .updateTable('grants')
      .set(JSON.parse(change))
      .where(isIn(tx, 'id', ids))
      .execute()
  }
  const left = new Set(after.flatMap(({ grants }) => grants.map(({ id }) => id)))
  const gone = [...known.keys()].filter((id) => !left.has(id))
  if (gone.length > 0)
    await tx
      .deleteFrom('grants')
      .where(isIn(tx, 'id', gone))
      .execute()
}

/** The columns in which a grant differs from what it was, as JSON. */
function differing(before: Grant, after: Grant): string {
  const stored = Object.entries(columnsOfGrant(before))
  const change = columnsOfGrant(after)
  return JSON.stringify(
    change,
    stored.filter(([name, value]) => value !== change[name as keyof typeof change]).map(([name]) => name),
  )
}

type Row = Record<string, string | number | null>
interface Changed {
  id: string
  before: Row
  after: Row
}

/** The columns of a holder that its grants fold to. */
export function foldedOf(holder: Holder) {
  const { license, client, access } = holder
  const shared = columnsOf(access, graceDaysOf(holder))
  const { expires_at } = shared
  return {
    license: license && { expires_at, ...(access.terms && termColumns(access.terms)) },
    client: client && { ...shared, grace_days: graceDaysOf(holder) },
  }
}

/** Writes the columns of holders that their grants do not fold to yet; returns the holders as they are then. */
async function writeColumns(tx: Tx, holders: readonly Holder[], now: number): Promise<Holder[]> {
  const licenses: Changed[] = []
  const clients: Changed[] = []
  const written = holders.map((holder) => {
    const { license, client } = holder
    const folded = foldedOf(holder)
    const added_rights = toAddedRights(holder.access.rights, now)
    if (license && folded.license)
      licenses.push({ id: license.id, before: { ...license }, after: folded.license })
    if (client && folded.client)
      clients.push({ id: client.id, before: { ...client }, after: { ...folded.client, added_rights } })
    return {
      ...holder,
      license: license && { ...license, ...folded.license },
      client: client && { ...client, ...folded.client, added_rights },
    }
  })
  // Licenses first, so that their counts are locked before those of end users.
  await updateRows(tx, 'licenses', licenses)
  await updateRows(tx, 'clients', clients)
  return written
}

const updatedAtOnce = 200

/** Updates rows whose columns differ. */
async function updateRows(tx: Tx, table: 'licenses' | 'clients', rows: readonly Changed[]): Promise<void> {
  const different = rows.filter(({ before, after }) =>
    Object.keys(after).some((name) => after[name] !== before[name]),
  )
  for (let at = 0; at < different.length; at += updatedAtOnce) {
    const some = different.slice(at, at + updatedAtOnce)
    const names = Object.keys(some[0]?.after ?? {})
    const set = names.map((name) => {
      const values = new Set(some.map(({ after }) => after[name]))
      if (values.size === 1) return sql`${sql.ref(name)} = ${some[0]?.after[name]}`
      const cases = some.map(({ id, after }) => sql`when ${id} then ${literalOf(after[name] ?? null)}`)
      return sql`${sql.ref(name)} = case id ${sql.join(cases, sql` `)} end`
    })
    const ids = some.map(({ id }) => id)
    await sql`update ${sql.table(table)} set ${sql.join(set)} where ${isIn(tx, 'id', ids)}`.execute(tx)
  }
}

/** Numbers are written out: PostgreSQL takes parameters of a choice for texts. */
const literalOf = (value: string | number | null) =>
  typeof value === 'number' ? sql.lit(value) : sql`${value}`
