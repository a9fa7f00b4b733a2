import { sql } from 'kysely'
import { normalizeEmail } from '../../core/ids.ts'
import type { Migration } from '../migrate.ts'
import type { Db } from '../tables.ts'

/**
 * Orders whose keys are handed over without a mail; and domains of addresses are compared in ASCII: `münchen.de` and
 * `xn--mnchen-3ya.de` are one domain, so one customer.
 */
export const emailDomains: Migration = {
  name: '0088-email-domains',
  statements: () => ['alter table shop_orders add column mailless integer not null default 0'],
  convert: async (tx, dialect) => {
    const isForeign = sql.raw(
      `email_normalized ${dialect === 'postgres' ? "~ '[^[:ascii:]]'" : "glob '*[^ -~]*'"}`,
    )
    const orders = await sql<{ seq: number; email_normalized: string }>`
      select seq, email_normalized from shop_orders where ${isForeign}`.execute(tx)
    for (const { seq, email_normalized } of orders.rows) {
      const normalized = normalizeEmail(email_normalized)
      await sql`update shop_orders set email_normalized = ${normalized} where seq = ${seq}`.execute(tx)
    }
    const customers = await sql<Stored>`
      select id, owner_id, email_normalized, name, note from customers where ${isForeign} order by seq`.execute(
      tx,
    )
    for (const customer of customers.rows) await convertCustomer(tx, customer)
  },
}

interface Stored {
  id: string
  owner_id: string
  email_normalized: string
  name: string | null
  note: string | null
}

async function convertCustomer(tx: Db, customer: Stored): Promise<void> {
  const normalized = normalizeEmail(customer.email_normalized)
  if (normalized === customer.email_normalized) return
  const { id, owner_id } = customer
  const { rows } = await sql<Stored>`select id, owner_id, email_normalized, name, note from customers
    where owner_id = ${owner_id} and email_normalized = ${normalized}`.execute(tx)
  const [same] = rows
  if (same === undefined) {
    await sql`update customers set email_normalized = ${normalized} where id = ${id}`.execute(tx)
    return
  }
  for (const table of ['licenses', 'clients', 'shop_orders', 'mails'])
    await sql`update ${sql.table(table)} set customer_id = ${same.id} where customer_id = ${id}`.execute(tx)
  const notes = [same.note, customer.note].filter((note) => note !== null)
  await sql`update customers set name = ${same.name ?? customer.name},
    note = ${notes.length === 0 ? null : notes.join('\n')} where id = ${same.id}`.execute(tx)
  await sql`delete from customers where id = ${id}`.execute(tx)
}
