import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { Actor, OwnerScope } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import { licenseColumns } from '../../db/columns.ts'
import { type Db, foundInScope, isIn, prepared, type Tx, type WriteTransaction } from '../../db/index.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { ClientRow, GrantRow, LicenseRow } from '../../db/tables.ts'
import { type Access, accessOf, type Grant, joined, type Own, termColumns } from './access.rules.ts'
import { lockLicensesOf, type Which } from './license-rows.ts'
import { toAddedRights, updatesUntil } from './terms.rules.ts'

// The one way in which access changes: rows of `grants` are added or changed, and what they fold to is written to the
// columns of the license and its end user in the same transaction.

const clientColumns = [
  'id',
  'owner_id',
  'app_id',
  'expires_at',
  'grace_days',
  'left_ms',
  'paused_at',
  'added_rights',
  'created_at',
] as const

/** What has an end of its own: a license, with the end user whose first one it is, or an end user without a license. */
export interface Holder {
  /** The id of the license, or else of the end user. */
  id: string
  license: LicenseRow | null
  client: Pick<ClientRow, (typeof clientColumns)[number]> | null
  grants: Grant[]
  access: Access
}

/** A grant to add; the columns that it does not name are empty. */
export type NewGrant = Pick<GrantRow, 'kind' | 'source_kind' | 'source_id'> & Partial<Grant>

/** What a change does to the grants of a holder. */
export interface Change {
  added?: readonly NewGrant[]
  /** Grants that the holder has, as they are afterwards. */
  changed?: readonly Grant[]
}

/** A holder before and after a change. */
export interface Changed {
  before: Holder
  after: Holder
}

/** Where a change comes from. */
export function sourceOf(actor: Actor): Pick<GrantRow, 'source_kind' | 'source_id'> {
  if (actor.kind === 'owner' || actor.kind === 'member' || actor.kind === 'api_key')
    return { source_kind: 'person', source_id: actor.actorId }
  return { source_kind: 'program', source_id: null }
}

/**
 * Changes what was granted to holders, and writes what follows from it. Locks the licenses that share an end with them.
 * Without changes, writes what follows from columns that the transaction has changed: grace days, and rights of added keys.
 */
export async function changeAccess(
  write: Pick<WriteTransaction, 'tx' | 'now'>,
  scope: OwnerScope,
  which: Which,
  change?: (holder: Holder) => Change | undefined,
): Promise<Changed[]> {
  return changeHolders(write, await lockHolders(write.tx, scope, which), change)
}

/** Locks the licenses that share an end with holders, and reads the holders. */
export async function lockHolders(tx: Tx, scope: OwnerScope, which: Which): Promise<Holder[]> {
  if ([which.licenses, which.clients].every((ids = []) => ids.length === 0)) return []
  await lockLicensesOf(tx, scope, which)
  return readHolders(tx, scope, which)
}

/** Like `changeAccess`, of holders that the transaction has locked and not changed since. */
export async function changeHolders(
  { tx, now }: Pick<WriteTransaction, 'tx' | 'now'>,
  holders: readonly Holder[],
  change?: (holder: Holder) => Change | undefined,
): Promise<Changed[]> {
  const changes = holders.map((before) => ({ before, after: afterChange(before, change?.(before), now) }))
  await writeGrants(tx, changes)
  // Licenses first, so that their counts are locked before those of end users.
  await updateRows(tx, 'license', changes)
  await updateRows(tx, 'client', changes)
  return changes
}

/** A holder after a change. The first one also stores what the columns said before. */
export function afterChange(holder: Holder, { added = [], changed = [] }: Change = {}, now: number): Holder {
  if (added.length + changed.length === 0) return foldedOf(holder, now)
  const byId = new Map(changed.map((grant) => [grant.id, grant]))
  const kept = holder.grants.map((grant) => byId.get(grant.id) ?? grant)
  const base = kept.length === 0 ? [baseOf(holder)] : []
  const all = [...base, ...kept, ...added.map((grant) => toGrant(grant, now))]
  const own = ownOf(holder)
  const grants = (all.length > 2 * limits.grantsMax && joined(own, all, limits.grantsMax)) || all
  return foldedOf({ ...holder, grants, access: accessOf(own, grants) }, now)
}

/** A holder with the columns that its grants fold to. */
export function foldedOf(holder: Holder, now: number): Holder {
  const { license, client, access } = holder
  const { expires_at, grace_days, left_ms, paused_at, terms, rights, updates } = access
  const added_rights = toAddedRights(rights, now)
  // Null while the license's own columns say it.
  const updates_until = updates.until === ownOf(holder).updates ? null : updates.until
  return {
    ...holder,
    license: license && { ...license, ...terms, expires_at, updates_until },
    client: client && { ...client, expires_at, grace_days, left_ms, paused_at, added_rights },
  }
}

// The order of the columns is the same for all, so that few texts of statements are prepared.
export const toGrant = (grant: NewGrant, at: number): Grant => ({
  ...{ id: newId('gra'), kind: grant.kind, at, until: null, moved_ms: null, gap_ms: 0, kept_ms: null },
  ...{ rights_until: null, terms: null, source_kind: grant.source_kind, source_id: grant.source_id },
  ...{ withdrawn_at: null, updates_ms: null, updates_until: null, key: null },
  ...grant,
})

/** What the columns of a holder say that has not changed. */
export function baseOf({ license, client }: Holder): Grant {
  const { end, terms: own } = ownOf({ license, client })
  const source = { source_kind: 'key', source_id: license?.id ?? null } as const
  const terms = own && JSON.stringify(own)
  const base = { kind: 'term', until: end === never ? null : end, terms, ...source } as const
  return toGrant(base, (license ?? client)?.created_at ?? 0)
}

export function ownOf({ license, client }: Pick<Holder, 'license' | 'client'>): Own {
  const { expires_at = never, grace_days = 0 } = license ?? client ?? {}
  return {
    end: displayedEnd({ expires_at, grace_days }, 0) ?? never,
    terms: license && termColumns(license),
    startedAt: license?.started_at ?? null,
    graceDays: grace_days,
    updates: updatesUntil(license && { ...license, updates_until: null }),
  }
}

const selected = [
  ...licenseColumns.map((name) => `l.${name}` as const),
  ...clientColumns.map((name) => `c.${name} as c_${name}` as const),
]

const ofLicenses = (db: Db, scope: OwnerScope, ids: readonly string[]): Promise<object[]> =>
  db
    .selectFrom('licenses as l')
    .leftJoin('clients as c', (join) =>
      join.onRef('c.id', '=', 'l.client_id').onRef('c.license_id', '=', 'l.id'),
    )
    .select(selected)
    .where(isIn(db, 'l.id', ids))
    .where(foundInScope(scope, 'l'))
    .orderBy('l.id')
    .execute()

const ofClients = (db: Db, scope: OwnerScope, ids: readonly string[]): Promise<object[]> =>
  db
    .selectFrom('clients as c')
    .leftJoin('licenses as l', 'l.id', 'c.license_id')
    .select(selected)
    .where(isIn(db, 'c.id', ids))
    .where(foundInScope(scope, 'c'))
    .orderBy('c.id')
    .execute()

/** Reads holders. Within a transaction that changes them, the caller has locked their licenses. */
export async function readHolders(
  db: Db,
  scope: OwnerScope,
  { licenses = [], clients = [] }: Which,
): Promise<Holder[]> {
  const found = [
    ...(licenses.length > 0 ? await ofLicenses(db, scope, licenses) : []),
    ...(clients.length > 0 ? await ofClients(db, scope, clients) : []),
  ].map(toRows)
  const grants = await readGrants(db, found)
  return found.map((rows) => {
    const id = (rows.license ?? rows.client)?.id ?? ''
    const own = grants.get(id) ?? []
    return { id, ...rows, grants: own, access: accessOf(ownOf(rows), own) }
  })
}

function toRows(row: object): Pick<Holder, 'license' | 'client'> {
  const cells = Object.entries(row)
  const license = Object.fromEntries(cells.filter(([name]) => !name.startsWith('c_'))) as LicenseRow
  const client = Object.fromEntries(
    cells.flatMap(([name, value]) => (name.startsWith('c_') ? [[name.slice(2), value]] : [])),
  ) as NonNullable<Holder['client']>
  return { license: license.id === null ? null : license, client: client.id === null ? null : client }
}

/** The grants of holders, oldest first. */
async function readGrants(
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
    ({ devices, seats, seat_timeout_seconds, features, grace_days, banned, ...row }) => {
      const key = { devices, seats, seat_timeout_seconds, features, grace_days, banned } as Grant['key']
      return { ...row, key: devices === null ? null : key }
    },
  )
  return Map.groupBy(grants, ({ license_id, client_id }) => license_id ?? client_id ?? '')
}

const columnsOfGrant = ({ key: _, ...columns }: Grant) => columns

const insertedAtOnce = 500

async function writeGrants(tx: Tx, changes: readonly Changed[]): Promise<void> {
  const added: Parameters<typeof prepared.insert<'grants'>>[2][number][] = []
  // Many at once are withdrawn at the same time.
  const changed = new Map<string, string[]>()
  const gone: string[] = []
  for (const { before, after } of changes) {
    if (before.grants === after.grants) continue
    const { license, client } = after
    const { owner_id = '', app_id = '' } = license ?? client ?? {}
    const whose = { license_id: license?.id ?? null, client_id: license ? null : (client?.id ?? null) }
    const known = new Map(before.grants.map((grant) => [grant.id, grant]))
    for (const grant of after.grants) {
      const former = known.get(grant.id)
      known.delete(grant.id)
      if (!former) added.push({ owner_id, app_id, ...whose, ...columnsOfGrant(grant) })
      if (!former || former === grant) continue
      const change = differing(former, grant)
      const ids = changed.get(change) ?? []
      if (change !== '{}') changed.set(change, ids)
      ids.push(grant.id)
    }
    gone.push(...known.keys())
  }
  for (let at = 0; at < added.length; at += insertedAtOnce)
    await prepared.insert(tx, 'grants', added.slice(at, at + insertedAtOnce)).later()
  for (const [change, ids] of changed)
    await tx
      .updateTable('grants')
      .set(JSON.parse(change))
      .where(isIn(tx, 'id', ids))
      .execute()
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

/** The columns that grants fold to. */
const folded = {
  license: ['expires_at', 'term', 'duration_value', 'duration_unit', 'updates_until'],
  client: ['expires_at', 'left_ms', 'paused_at', 'grace_days', 'added_rights'],
}

const updatedAtOnce = 200

/** Updates rows whose columns differ. */
async function updateRows(tx: Tx, noun: keyof typeof folded, changes: readonly Changed[]): Promise<void> {
  const names = folded[noun]
  const different = changes.flatMap((change) => {
    const [before, after]: [Row, Row] = [{ ...change.before[noun] }, { ...change.after[noun] }]
    return names.some((name) => after[name] !== before[name]) ? [after] : []
  })
  for (let at = 0; at < different.length; at += updatedAtOnce) {
    const some = different.slice(at, at + updatedAtOnce)
    const set = names.map((name) => {
      const values = new Set(some.map((after) => after[name]))
      if (values.size === 1) return sql`${sql.ref(name)} = ${some[0]?.[name]}`
      const cases = some.map((after) => sql`when ${after.id} then ${literalOf(after[name] ?? null)}`)
      return sql`${sql.ref(name)} = case id ${sql.join(cases, sql` `)} end`
    })
    const ids = some.map(({ id }) => String(id))
    await sql`update ${sql.table(`${noun}s`)} set ${sql.join(set)} where ${isIn(tx, 'id', ids)}`.execute(tx)
  }
}

/** Numbers are written out: PostgreSQL takes parameters of a choice for texts. */
const literalOf = (value: string | number | null) =>
  typeof value === 'number' ? sql.lit(value) : sql`${value}`
