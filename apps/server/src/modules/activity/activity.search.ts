import { type RawBuilder, sql } from 'kysely'
import { syntaxOf } from '../../db/engine.ts'
import type { Db } from '../../db/index.ts'
import { afterPrefix } from '../../db/lists/search.ts'

type Sql = RawBuilder<unknown>

/** An event matches if one of these does. */
export interface EventMatches {
  clients: readonly string[]
  /** Usernames and keys as programs sent them, in lower case. */
  subjects: readonly { text: string; isBeginning: boolean }[]
  address?: string | undefined
  reference?: string | undefined
}

/** A query of the `seq` of events that match in one of the ways, each through its index, and the newest `count` of each. */
export function matchingAny(
  lists: Db,
  mine: Sql,
  ownerId: string,
  matches: EventMatches,
  count: number,
): Sql {
  const { clients, subjects, address, reference } = matches
  const from = (index: string) => sql.raw(syntaxOf(lists).indexed('activity', 't', index))
  const newest = (found: Sql) =>
    sql`select seq from (${found} order by t.created_at desc, t.seq desc limit ${count}) part`
  // A short beginning matches many events in no order: more than are counted need no order.
  const some = (found: Sql) => sql`select seq from (${found} limit ${count}) part`
  const begins = (column: Sql, text: string) => sql`${column} >= ${text} and ${column} < ${afterPrefix(text)}`
  const { subject, address: addressColumn } = columnsOf(lists)
  const ways = clients.map((client) =>
    newest(sql`select t.seq from ${from('activity_client')} where t.client_id = ${client} and ${mine}`),
  )
  for (const { text, isBeginning } of subjects) {
    const found = sql`select t.seq from ${from('activity_subject')}
      where t.owner_id = ${ownerId} and t.subject is not null and t.share <> 'init' and ${mine}`
    ways.push(
      isBeginning
        ? some(sql`${found} and ${begins(subject, text)}`)
        : newest(sql`${found} and ${subject} = ${text}`),
    )
  }
  if (address !== undefined) {
    ways.push(
      some(sql`select t.seq from ${from('activity_address')}
        where t.owner_id = ${ownerId} and t.address is not null and ${begins(addressColumn, address)} and ${mine}`),
    )
  }
  if (reference !== undefined) {
    ways.push(
      some(sql`select t.seq from activity t where ${begins(sql`t.reference`, reference)} and ${mine}`),
    )
  }
  return ways.length === 0 ? sql`select 0` : sql`${sql.join(ways, sql` union all `)}`
}

/** As in the indexes. */
export const columnsOf = (lists: Db) => ({
  subject: syntaxOf(lists).inBytes(sql`lower(t.subject)`),
  address: syntaxOf(lists).inBytes(sql`t.address`),
})
