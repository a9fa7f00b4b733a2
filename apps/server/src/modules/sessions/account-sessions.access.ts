import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { Db, Tx } from '../../db/index.ts'
import type { AccountSessionColumns } from '../../db/tables/owners.ts'
import type { Holder } from './sessions.service.ts'

const tables = {
  account: { table: sql.table('owner_sessions'), holder: sql.ref('account_id') },
  reseller: { table: sql.table('reseller_sessions'), holder: sql.ref('reseller_id') },
} as const

/** A session as its holder sees it. */
type SessionRow = Pick<AccountSessionColumns, 'id' | 'address' | 'agent' | 'created_at' | 'last_used_at'>

/** The open sessions of a person at all vendors, or of a reseller; last used first. */
export async function listSessions(db: Db, { kind, id }: Holder, now: number): Promise<SessionRow[]> {
  const { table, holder } = tables[kind]
  const { rows } = await sql<SessionRow>`select id, address, agent, created_at, last_used_at from ${table}
    where ${holder} = ${id} and expires_at > ${now}
    order by last_used_at desc, id desc limit ${limits.accountSessionsMax}`.execute(db)
  return rows
}

/** Ends all sessions but one and returns how many. */
export async function endOtherSessions(tx: Tx, { kind, id }: Holder, sessionId: string): Promise<number> {
  const { table, holder } = tables[kind]
  const { rows } = await sql`delete from ${table}
    where ${holder} = ${id} and id <> ${sessionId} returning id`.execute(tx)
  return rows.length
}

/** Notes that the holder of a session has proved who it is; false if the session has ended. */
export async function setConfirmed(
  tx: Tx,
  { kind, id }: Holder,
  sessionId: string,
  now: number,
): Promise<boolean> {
  const { table, holder } = tables[kind]
  const { rows } = await sql`update ${table} set confirmed_at = ${now}
    where id = ${sessionId} and ${holder} = ${id} and expires_at > ${now} returning id`.execute(tx)
  return rows.length > 0
}
