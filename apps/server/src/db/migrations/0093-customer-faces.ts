import type { Migration } from '../migrate.ts'

/**
 * What the people of one app see of a customer. One whose `id` is the customer's own shows the customer itself, as everybody
 * saw it before.
 */
export const customerFaces: Migration = {
  name: '0093-customer-faces',
  statements: (dialect) => {
    const isPostgres = dialect === 'postgres'
    const t = isPostgres ? 'text collate "C"' : 'text'
    const sequence = isPostgres
      ? 'bigint generated always as identity primary key'
      : 'integer primary key autoincrement'
    const linked = ['licenses', 'clients', 'shop_orders']
      .map((table) => `select customer_id, app_id from ${table} where customer_id is not null`)
      .join(' union ')
    return [
      `create table customer_faces (
        seq ${sequence},
        customer_id ${t} not null references customers (id) on delete cascade,
        app_id ${t} not null references apps (id) on delete cascade,
        id ${t} not null,
        email text,
        name text,
        note text,
        created_at bigint not null
      )`,
      'create unique index customer_faces_customer on customer_faces (customer_id, app_id)',
      'create index customer_faces_id on customer_faces (id)',
      'create index customer_faces_app on customer_faces (app_id, seq)',
      `insert into customer_faces (customer_id, app_id, id, created_at)
        select c.id, l.app_id, c.id, c.created_at from (${linked}) l join customers c on c.id = l.customer_id
        order by c.seq, l.app_id`,
    ]
  },
}
