// ADR 26: asks over a new connection what became of another one.
import type pg from 'pg'
import { createClient } from './connect.ts'

const connectMs = 1500
const queryMs = 1000

/** Queries PostgreSQL over a new connection; rejects when it does not answer in time. */
export async function queryOnce<T>(url: string, ask: (probe: pg.Client) => Promise<T>): Promise<T> {
  const probe = createClient(url, { connectionTimeoutMillis: connectMs, query_timeout: queryMs })
  probe.on('error', () => {})
  try {
    await probe.connect()
    await probe.query('select 1')
    return await ask(probe)
  } finally {
    void probe.end().catch(() => {})
  }
}

/** The id of the server process that a connection reports. */
export const pidOf = (client: pg.ClientBase): number => (client as unknown as { processID: number }).processID

/** The host and port that a connection goes to. */
export const hostOf = (client: pg.ClientBase): string => {
  const { host, port } = client as pg.Client
  return `${host}:${port}`
}

/** Whether the connection goes to PostgreSQL itself; a pooler reports process ids of its own. */
export async function isDirect(
  client: pg.ClientBase,
  query: (text: string) => Promise<pg.QueryResult> = (text) => client.query(text),
): Promise<boolean> {
  const { rows } = await query('select pg_backend_pid() as pid')
  return rows[0]?.pid === pidOf(client)
}

/** The server waits for the rest of a message, or for more messages that it must receive before it responds. */
const waitsForClient = `coalesce(wait_event = 'ClientRead' and state_change < clock_timestamp() - interval '3 s', false)`

/** Which of these backend processes are running a query; undefined behind a pooler, which hides them. */
export async function filterRunning(
  probe: pg.Client,
  pids: readonly number[],
): Promise<Set<number> | undefined> {
  if (!(await isDirect(probe))) return undefined
  const { rows } = await probe.query(
    `select pid from pg_stat_activity
      where pid = any($1) and coalesce(state, 'active') = 'active' and not ${waitsForClient}`,
    [pids],
  )
  return new Set(rows.map((row: { pid: number }) => row.pid))
}

const inTheFuture = '22023'

/**
 * Whether the transaction with this id is over. A crash of PostgreSQL also ends it, and may forget its id. A standby
 * does not know: until it is promoted, it can lack a commit that it has received.
 */
export const hasEnded = (url: string, id: string): Promise<boolean> =>
  queryOnce(url, async (probe) => {
    try {
      const status = "case when pg_is_in_recovery() then 'in progress' else pg_xact_status($1::xid8) end"
      const { rows } = await probe.query(`select ${status} as status`, [id])
      return rows[0]?.status !== 'in progress'
    } catch (error) {
      if ((error as { code?: unknown }).code === inTheFuture) return true
      throw error
    }
  })

/** Closes a connection, waiting at most `ms` for a server that does not respond. */
export async function endOrTimeOut(client: { end(): Promise<void> }, ms: number): Promise<void> {
  let late: NodeJS.Timeout | undefined
  const waited = new Promise<void>((resolve) => {
    late = setTimeout(resolve, ms)
  })
  await Promise.race([client.end().catch(() => {}), waited])
  clearTimeout(late)
}
