import { type BodyOf, type Customer, type CustomerMail, type endpoints, limits } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { day, toIso } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { problem } from '../../core/problem.ts'
import type { Tx } from '../../db/index.ts'
import type { CustomerRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listLastRefusals, listRefusalsOfKeys } from '../activity/activity.service.ts'
import { findAppId } from '../apps/apps.access.ts'
import { toFlag } from '../apps/apps.settings.ts'
import { listToldOf } from '../customer-mails/customer-mails.service.ts'
import { insertCustomer, replaceInFaces, updateCustomer, updateFaces } from '../customers/customers.access.ts'
import { shownEmail } from '../customers/faces.access.ts'
import { listDevicesOf } from '../end-users/end-users.devices.ts'
import { endUserSource } from '../end-users/end-users.service.ts'
import { licenseSource } from '../licenses/licenses.service.ts'
import { subjectOf } from '../mail/mail.queue.ts'
import * as repo from './customer-records.repo.ts'

export async function listCustomers(
  ctx: Ctx,
  actor: VendorActor,
  { app, search, ...page }: Page & { app?: string | undefined; search?: string | undefined },
) {
  const filter = {
    appId: await findAppId(ctx.db, actor, app),
    search: search || undefined,
  }
  const { rows, total } = await repo.pageCustomers(ctx.database, actor, filter, page, limits.searchCountMax)
  return { customers: rows.map(toCustomer), pagination: toPagination(page, total, true) }
}

export type CustomerChange = BodyOf<typeof endpoints.customers.update>

export async function createCustomer(
  ctx: Ctx,
  actor: VendorActor,
  { email, name, note, mails }: CustomerChange & { email: string },
): Promise<Customer> {
  const id = newId('cus')
  return ctx.tx(
    actor,
    async (write) => {
      const texts = { email, name: name || null, note: note || null }
      await insertCustomer(write, actor, id, { ...texts, mails: toFlag(mails) ?? 1 })
      write.record('customer.created', id, {})
      return toCustomer(await found(write.tx, actor, id))
    },
    { onTaken: exists },
  )
}

/** A customer with what it has. */
export async function getCustomer(ctx: Ctx, actor: VendorActor, id: string) {
  const row = await found(ctx.db, actor, id)
  const parts = await readParts(ctx, actor, row.customer_id, limits.customerPartsMax)
  const devices = await listDevicesOf(ctx, actor, parts.clients, limits.customerPartsMax)
  const mails = await readMails(ctx, actor, row.customer_id, limits.customerPartsMax)
  const since = ctx.clock.now() - limits.customerRefusalDays * day
  const unused = parts.licenses?.filter(({ usedBy }) => usedBy === null).map(({ key }) => key) ?? []
  const [refused] = [
    ...(
      await listLastRefusals(
        ctx.db,
        actor,
        parts.clients.map(({ _id }) => _id),
        since,
      )
    ).values(),
    ...(await listRefusalsOfKeys(ctx.db, actor, unused, since)).values(),
  ].sort((a, b) => b.at - a.at)
  return { customer: toCustomer(row), ...parts, devices, mails, refusal: refused?.reference ?? null }
}

/** The newest mails to a customer that the caller may know of. */
export async function readMails(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  most: number,
): Promise<CustomerMail[]> {
  const mails = await repo.listMails(ctx.database.lists, actor, id, most)
  const told = await listToldOf(ctx, actor, id, most)
  const ids = actor.permissions.has('licenses:read') ? mails.flatMap((mail) => subjectOf(mail.id) ?? []) : []
  const numbers = await repo.listNumbers(ctx.database.lists, actor, ids)
  const keys = await repo.listMailedKeys(ctx.database.lists, actor, ids)
  const others = mails.flatMap(({ id: _id, state, created_at }) => {
    const about = subjectOf(_id)
    const number = about === undefined ? undefined : numbers.get(about)
    const license = (about !== undefined && keys.get(about)) || null
    // The mail does not say of which app a link is.
    if (about === undefined ? actor.apps !== null : number === undefined && !license) return []
    const order = about === undefined || number === undefined ? null : { _id: about, order: number }
    const kind = order || license ? ('purchase' as const) : ('link' as const)
    return [{ _id, kind, order, license, state, createdAt: toIso(created_at) }]
  })
  return [...told, ...others].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)).slice(0, most)
}

export async function readParts(ctx: Ctx, actor: VendorActor, id: string, most: number) {
  const now = ctx.clock.now()
  const { lists } = ctx.database
  const mayLicenses = actor.permissions.has('licenses:read')
  const { licenses, endUsers } = await listParts(lists, actor, id, most)
  const seqs = endUsers.map(({ seq }) => seq)
  return {
    licenses: mayLicenses ? await licenseSource.read(ctx, actor, licenses, now) : null,
    clients: await endUserSource.read(ctx, actor, seqs, now),
  }
}

/** The newest licenses and end users of a customer, as places in their lists. */
export const listParts = async (db: Ctx['db'], scope: OwnerScope, id: string, most: number) => ({
  licenses: await repo.listLicenses(db, scope, id, most),
  endUsers: await repo.listEndUsers(db, scope, id, most),
})

export async function changeCustomer(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  change: CustomerChange,
): Promise<Customer> {
  // A taken address would tell of a customer that the caller may not see.
  if (change.email !== undefined && actor.apps !== null) throw problem('permission_missing')
  return ctx.tx(
    actor,
    async (write) => {
      const { tx } = write
      const shown = await found(tx, actor, id)
      const row = await repo.lockCustomer(tx, actor, shown.customer_id)
      if (!row) throw problem('not_found')
      await changeTexts(tx, actor, { shown, row }, change)
      const { email, mails } = change
      await updateCustomer(tx, actor, row.id, {
        ...(email !== undefined && { email }),
        ...(mails !== undefined && { mails: toFlag(mails) ?? 1 }),
      })
      write.record('customer.updated', row.id, { fields: Object.keys(change) })
      return toCustomer(await found(tx, actor, id))
    },
    { onTaken: exists },
  )
}

/** Changes a text where it stands, so that what was written in one app does not appear in another. */
async function changeTexts(
  tx: Tx,
  actor: VendorActor,
  { shown, row }: { shown: repo.CustomerView; row: CustomerRow },
  change: CustomerChange,
): Promise<void> {
  for (const column of ['name', 'note'] as const) {
    const wanted = change[column]
    if (wanted === undefined) continue
    const [before, after] = [shown[column], wanted || null]
    if (after === before) continue
    if (shown.id !== row.id) await updateFaces(tx, actor, row.id, { [column]: after })
    else if (row[column] === null && before !== null)
      await replaceInFaces(tx, row.id, column, { before, after })
    else await updateCustomer(tx, actor, row.id, { [column]: after })
  }
}

export async function found(db: Ctx['db'], scope: OwnerScope, id: string): Promise<repo.CustomerView> {
  const row = await repo.findCustomer(db, scope, id)
  if (!row) throw problem('not_found')
  return row
}

const exists = () => problem('customer_exists')

export const toCustomer = (row: repo.CustomerView): Customer => ({
  _id: row.id,
  email: shownEmail(row.typed, row),
  name: row.name,
  note: row.note,
  mails: row.mails === 1,
  createdAt: toIso(row.created_at),
  licenses: Number(row.licenses),
  orders: Number(row.orders),
})
