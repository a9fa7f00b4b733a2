import { limits } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../db/index.ts'
import { onlineUntil } from './program-sessions.rules.ts'

// The caller has found the app, within the scope of a vendor or by its program.

/** Sessions of end users that were used lately, the last used ones first; none that was ended, or that a rotated secret ended. */
const usedSessions = (appId: string, now: number): RawBuilder<{ id: string }> =>
  sql`select s.client_id as id from client_sessions s
    where s.app_id = ${appId} and s.expires_at > ${onlineUntil(now)} and s.client_id is not null
      and s.secret_version = (select a.secret_version from apps a where a.id = ${appId})
    order by s.expires_at desc limit ${limits.onlineMax}`

/** How many end users are online, counted over the last `limits.onlineMax` sessions. */
export async function countOnline(
  { lists }: Pick<Database, 'lists'>,
  appId: string,
  now: number,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(distinct id) as n from (${usedSessions(appId, now)}) used`.execute(lists)
  return Number(rows[0]?.n ?? 0)
}

/** Some of those who are online. */
export async function listOnline(
  { lists }: Pick<Database, 'lists'>,
  appId: string,
  now: number,
  most: number,
): Promise<{ username: string; hasPassword: boolean }[]> {
  const { rows } = await sql<{ username: string; has_password: number }>`
    select c.username, case when c.password_hash is null then 0 else 1 end as has_password
    from (select distinct id from (${usedSessions(appId, now)}) used limit ${most}) t
      join clients c on c.id = t.id`.execute(lists)
  return rows.map(({ username, has_password }) => ({ username, hasPassword: has_password === 1 }))
}
