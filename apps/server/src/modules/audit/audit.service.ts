import { type AuditRecord, type endpoints, limits, type Permission, type QueryOf } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { toEpochMs, toIso } from '../../core/clock.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { invalid } from '../../core/problem.ts'
import { readPatiently } from '../../db/index.ts'
import { fewMatches } from '../../db/lists/list-filters.ts'
import { searchPage } from '../../db/lists/list-search.ts'
import {
  countFound,
  enough,
  type Found,
  findRecords,
  nextSeqs,
  type RecordFilter,
  toWalk,
  type Walk,
} from '../../db/lists/records.ts'
import { type RecordSearch, searchRecords } from '../../db/lists/records-search.ts'
import { type SearchTerm, toSearchTerm } from '../../db/lists/search.ts'
import { lastLinkedRecord } from '../../db/record-rows.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findAppId } from '../apps/apps.access.ts'
import { findNamedCustomer, showCustomersIn } from '../customers/faces.access.ts'
import { readNames } from '../customers/names.access.ts'
import type { Description, Names } from '../description.ts'
import { endUserSource } from '../end-users/end-users.service.ts'
import { licenseSource, toSearched } from '../licenses/licenses.service.ts'
import { findIdsNamed, findNames, type Reader } from './audit.names.ts'
import * as repo from './audit.repo.ts'
import {
  actionsNamed,
  appActions,
  hiddenActions,
  nameInDetail,
  namesOf,
  readableIds,
  subjectKind,
} from './audit.rules.ts'

export type AuditQuery = Omit<QueryOf<typeof endpoints.audit.export>, 'format'>

/** Modules say which columns name their objects. */
interface AuditParts {
  ctx: Ctx
  modules: readonly Description[]
}

export async function listRecords(parts: AuditParts, actor: VendorActor, query: AuditQuery & Page) {
  const { ctx } = parts
  const { walk, hits } = await find(parts, actor, query)
  const { seqs, total } = await findRecords(ctx.database, hits ?? walk({ count: enough }), query)
  const isBeyond = (query.page - 1) * query.limit >= limits.searchCountMax
  return {
    records: isBeyond ? [] : await read(parts, actor, seqs),
    pagination: toPagination(query, total, true),
  }
}

/** How many records are read and written at once; other requests run between slices. */
const sliceSize = 200

/** All records that match, newest first, in slices. Rejects before the first slice if there are too many. */
export async function exportRecords(
  parts: AuditParts,
  actor: VendorActor,
  query: AuditQuery,
): Promise<AsyncGenerator<AuditRecord[]>> {
  const { ctx } = parts
  const { walk, hits } = await find(parts, actor, query, fewMatches)
  const most = hits ? limits.searchCountMax : limits.exportRowsMax
  const total = await countFound(ctx.database, hits ?? walk({ count: most + 1 }))
  if (total > most) throw tooMany(hits ? 'search' : 'from', most)
  const slices = hits ? slicesOf(ctx, hits) : walkDown(ctx, walk)
  return (async function* () {
    for await (const seqs of slices) yield await readPatiently(() => read(parts, actor, seqs))
  })()
}

const tooMany = (path: string, max: number) =>
  invalid(path, `More than ${max.toLocaleString('en-US')} records match. Narrow the filters to export them.`)

async function* slicesOf({ database }: Ctx, hits: Found): AsyncGenerator<number[]> {
  const { seqs } = await findRecords(database, hits, { page: 1, limit: limits.searchCountMax })
  for (let at = 0; at < seqs.length; at += sliceSize) yield seqs.slice(at, at + sliceSize)
}

async function* walkDown({ database }: Ctx, walk: Walk): AsyncGenerator<number[]> {
  let last: Awaited<ReturnType<typeof nextSeqs>>[number] | undefined
  do {
    const next = await readPatiently(() => nextSeqs(database, walk, last, sliceSize))
    if (next.length > 0) yield next.map(({ seq }) => seq)
    last = next.length === sliceSize ? next.at(-1) : undefined
  } while (last)
}

/** The records that match the filters; `hits` are those that match the search too. */
async function find(
  parts: AuditParts,
  actor: VendorActor,
  wanted: AuditQuery,
  mostOfPeople?: number,
): Promise<{ walk: Walk; hits: Found | undefined }> {
  const { ctx } = parts
  const query = await toStored(ctx.db, actor, wanted)
  const { action, subject, from, to } = query
  const filter: RecordFilter = {
    scope: actor,
    ...(query.actor === 'people' || query.actor === 'programs'
      ? { actors: query.actor }
      : { actor: query.actor }),
    ...{ action, subject },
    ...(await toObjects(parts, actor, query)),
    from: from === undefined ? undefined : startOf(from),
    to: to === undefined ? undefined : toEpochMs(to),
  }
  const text = toSearched(ctx, query.search) ?? ''
  const term = toSearchTerm(text)
  const isPage = !term && mostOfPeople === undefined
  const walk = await toWalk(ctx.database, filter, { mostOfPeople, isPage })
  if (!term) return { walk, hits: undefined }
  const search = await toSearch(ctx, actor, term, text.toLowerCase())
  return { walk, hits: await searchRecords(ctx.database, filter, search, walk) }
}

/** About an app are its own changes, not those of its licenses and people. */
async function toObjects(
  { ctx: { db }, modules }: AuditParts,
  actor: VendorActor,
  { about, app }: AuditQuery,
): Promise<Pick<RecordFilter, 'about' | 'actions' | 'app'>> {
  if (about?.startsWith('app_')) {
    if (app !== undefined) throw invalid('app', 'Leave this out: `about` is an app.')
    return { app: await findAppId(db, actor, about), actions: appActions(namesOf(modules)) }
  }
  const appId = await findAppId(db, actor, app)
  if (about === undefined) return { app: appId }
  const may = mayOf(actor)
  const seesBoth = may('licenses:read') && may('clients:read')
  const related = seesBoth ? await repo.findRelated(db, actor, about) : []
  return { app: appId, about: { id: about, related, linked: await lastLinkedRecord(db) } }
}

/** A bare date begins with its first moment here; elsewhere it means its last one. */
const startOf = (text: string): number => (text.length === 10 ? Date.parse(text) : toEpochMs(text))

const mayOf =
  ({ permissions }: VendorActor) =>
  (permission: Permission): boolean =>
    permissions.has(permission)

const toReader = (actor: VendorActor): Reader => ({
  scope: actor,
  seesAddresses: actor.permissions.has('members:read'),
  actorId: actor.actorId,
})

/** A name that many licenses or end users have finds the records of so many of them, the newest ones. */
const namedMost = 200

/** What a text can mean: a part of an address, a detail, an action or a name that the caller may read, or an id. */
async function toSearch(ctx: Ctx, actor: VendorActor, term: SearchTerm, text: string): Promise<RecordSearch> {
  const may = mayOf(actor)
  const { database, db } = ctx
  const filter = { scope: actor, now: ctx.clock.now() }
  const page = { page: 1, limit: namedMost, sort: 'newest' } as const
  const [ids, licenses, endUsers] = await Promise.all([
    findIdsNamed(database.lists, toReader(actor), text, {
      apps: may('apps:read'),
      resellers: may('resellers:read'),
    }),
    may('licenses:read') ? searchPage(database, licenseSource.list, filter, page, term) : undefined,
    may('clients:read') ? searchPage(database, endUserSource.list, filter, page, term) : undefined,
  ])
  const subjects = await Promise.all([
    repo.idsOf(db, 'licenses', actor, licenses?.seqs ?? []),
    repo.idsOf(db, 'clients', actor, endUsers?.seqs ?? []),
  ])
  return {
    // In the detail, which is JSON, some characters are escaped.
    text: term.short ? undefined : JSON.stringify(text).slice(1, -1),
    actions: actionsNamed(text),
    ids: [...ids, text],
    subjects: subjects.flat(),
    hidden: hiddenActions(may),
  }
}

/** The filters name customers as the caller sees them; a customer that it does not see finds no record. */
async function toStored(db: Ctx['db'], actor: VendorActor, query: AuditQuery): Promise<AuditQuery> {
  const toId = async (id: string | undefined) =>
    id?.startsWith('cus_') ? ((await findNamedCustomer(db, actor, id)) ?? (actor.apps ? '' : id)) : id
  const { actor: by, subject, about } = query
  return { ...query, actor: await toId(by), subject: await toId(subject), about: await toId(about) }
}

/** Records name customers by their own ids, which callers with some apps do not see. */
async function showCustomers(
  db: Ctx['db'],
  actor: VendorActor,
  rows: readonly repo.RecordRow[],
): Promise<repo.RecordRow[]> {
  const texts = rows.map(({ actor_id, target_id, detail }) => ({ actor_id, target_id, detail }))
  const shown = JSON.parse(await showCustomersIn(db, actor, JSON.stringify(texts))) as typeof texts
  return rows.map((row, at) => ({ ...row, ...shown[at], actor_id: shown[at]?.actor_id ?? '' }))
}

/** What objects that no longer exist were called, by their ids. */
async function findFormerNames(
  { db }: Ctx,
  actor: VendorActor,
  known: Names,
  missing: readonly string[],
): Promise<Map<string, string | null>> {
  const deletions = Object.values(known).flatMap(({ deletion }) => deletion ?? [])
  const rows = await repo.listDeletions(db, actor, missing, deletions)
  return new Map(
    rows.flatMap(({ target_id: id, action, detail }) =>
      id === null || detail === null
        ? []
        : [[id, nameInDetail(known, subjectKind(known, id, action), JSON.parse(detail))]],
    ),
  )
}

/** Names those that sign in with their key as lists do, where anything is known. */
async function nameUsers({ db }: Ctx, actor: VendorActor, names: Map<string, string | null>, ids: string[]) {
  const nameOf = await readNames(db, actor, ids)
  for (const id of ids) {
    const username = names.get(id)
    if (username) names.set(id, nameOf(id, username) ?? username)
  }
}

async function read(
  { ctx, modules }: AuditParts,
  actor: VendorActor,
  seqs: readonly number[],
): Promise<AuditRecord[]> {
  const stored = await repo.listBySeq(ctx.database, actor, seqs)
  const rows = await showCustomers(ctx.db, actor, stored)
  const may = mayOf(actor)
  const hidden = new Set<string>(hiddenActions(may))
  const ids = rows.flatMap(({ actor_id, target_id }) => [
    actor_id,
    ...(target_id === null ? [] : [target_id]),
  ])
  const known = namesOf(modules)
  const readable = readableIds(known, ids, may)
  const names = await findNames(ctx.db, known, toReader(actor), readable)
  await nameUsers(ctx, actor, names, readable.get('usr') ?? [])
  const former = await findFormerNames(
    ctx,
    actor,
    known,
    [...readable.values()].flat().filter((id) => !names.has(id)),
  )
  return rows.map((row) => {
    const detail = hidden.has(row.action) || row.detail === null ? null : JSON.parse(row.detail)
    const { target_id: target, app_id: app, app_name: appName, app_public_id: publicId } = row
    const kind = target === null ? '' : subjectKind(known, target, row.action)
    return {
      _id: row.id,
      at: toIso(row.created_at),
      actor: {
        kind: row.actor_kind,
        _id: row.actor_id,
        name: names.get(row.actor_id) ?? former.get(row.actor_id) ?? null,
      },
      action: row.action,
      subject:
        target === null
          ? null
          : {
              kind,
              _id: target,
              name: names.get(target) ?? former.get(target) ?? nameInDetail(known, kind, detail),
              deleted: former.has(target),
            },
      app:
        app === null || appName === null || publicId === null
          ? null
          : { _id: app, name: appName, appId: publicId },
      address: row.address,
      detail,
    }
  })
}
