import { chmodSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { day, minute } from '../../src/core/clock.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { makeApp, makePremium, signUp } from '../actors.ts'
import { keyward, runKeywardInHost } from '../command-line.ts'
import { serverForAll } from '../fixtures.ts'
import { SmtpSink } from '../smtp-sink.ts'

interface Finding {
  check: string
  state: string
  text: string
  fix: string | null
}

const on = serverForAll()
const doctor = async (environment: Record<string, string> = {}, ...args: string[]) => {
  const { code, stdout, stderr } = await keyward(on, ['doctor', '--json', ...args], environment)
  expect(stderr).toBe('')
  expect(stdout).not.toContain(on.config.secretKey)
  return { code, findings: JSON.parse(stdout).findings as Finding[] }
}
const noUndo = async () => {}
type Broken = Record<string, string> | undefined

const newest = migrations.at(-1)?.name ?? ''
const setNewest = async (way: 'delete' | 'insert') => {
  const change =
    way === 'delete'
      ? sql`delete from migrations where name = ${newest}`
      : sql`insert into migrations (name, applied_at) values (${newest}, 0)`
  await change.execute(on.database.db)
  return undefined
}

const faults: [
  name: string,
  check: string,
  state: string,
  fix: RegExp,
  make: () => Promise<Broken>,
  undo: () => Promise<unknown>,
][] = [
  [
    'a data directory that others can change',
    'files',
    'error',
    /^chmod 700 \//,
    async () => void chmodSync(on.dataDir, 0o777),
    async () => chmodSync(on.dataDir, 0o700),
  ],
  [
    'another key',
    'key',
    'error',
    /^Set SECRET_KEY to the key of this database/,
    async () => {
      await on.database.db.deleteFrom('meta').where('name', '=', 'secret_key_fingerprint').execute()
      await on.database.db
        .insertInto('meta')
        .values({ name: 'secret_key_fingerprint', value: 'other' })
        .execute()
      return undefined
    },
    () => on.database.db.deleteFrom('meta').where('name', '=', 'secret_key_fingerprint').execute(),
  ],
  [
    'a clock that was set back',
    'clock',
    'error',
    /^Set the clock/,
    async () => {
      const rest = { owner_id: null, actor_kind: 'operator', actor_id: 'x', session_id: null, address: null }
      const what = { action: 'owner.registered', target_id: null, app_id: null, detail: null }
      const at = Date.now() + 10 * minute
      await on.database.db
        .insertInto('audit')
        .values({ id: 'aud_later', ...rest, ...what, created_at: at })
        .execute()
      return undefined
    },
    () => on.database.db.deleteFrom('audit').where('id', '=', 'aud_later').execute(),
  ],
  [
    'a public address that nothing answers',
    'address',
    'error',
    /^Correct PUBLIC_URL/,
    async () => ({ PUBLIC_URL: 'http://127.0.0.1:9' }),
    noUndo,
  ],
  [
    'an untrusted proxy',
    'address',
    'warning',
    /^Set TRUST_PROXY=1/,
    async () => ({ PUBLIC_URL: 'https://127.0.0.1:9' }),
    noUndo,
  ],
  [
    'no TLS',
    'address',
    'error',
    /^Renew the certificate/,
    async () => ({ PUBLIC_URL: 'https://127.0.0.1:9' }),
    noUndo,
  ],
  ['no mail server', 'mail', 'warning', /^Set SMTP_URL/, async () => ({}), noUndo],
  [
    'a mail server that does not answer',
    'mail',
    'error',
    /^Correct SMTP_URL/,
    async () => ({
      SMTP_URL: 'smtp://name:hidden@127.0.0.1:9',
      PUBLIC_URL: 'http://127.0.0.1:9',
      MAIL_FROM: 'k@example.com',
    }),
    noUndo,
  ],
  ['simulated payments', 'payments', 'warning', /^Set PAYMENTS=/, async () => ({ PAYMENTS: 'mock' }), noUndo],
  [
    'a setting that is wrong',
    'configuration',
    'error',
    /^Correct this variable/,
    async () => ({ PORT: 'x' }),
    noUndo,
  ],
  [
    'a migration that has not run',
    'schema',
    'warning',
    /^Restart the server/,
    () => setNewest('delete'),
    () => setNewest('insert'),
  ],
  [
    'a migration of a newer version',
    'schema',
    'error',
    /^Install the newest version/,
    async () =>
      void (await sql`insert into migrations (name, applied_at) values ('9999-later', 0)`.execute(
        on.database.db,
      )),
    () => sql`delete from migrations where name = '9999-later'`.execute(on.database.db),
  ],
  [
    'a webhook that the server paused',
    'webhooks',
    'warning',
    /resume them under Webhooks/,
    async () => {
      const owner = await signUp(on)
      await makePremium(on, owner)
      await owner.call('POST', '/webhooks', { url: 'https://hooks.example.com/x', events: ['*'] })
      await on.database.db.updateTable('webhooks').set({ pause_reason: 'failing', active: 0 }).execute()
      return undefined
    },
    () => on.database.db.updateTable('webhooks').set({ pause_reason: null }).execute(),
  ],
  [
    'an event of a shop that waits',
    'shops',
    'warning',
    /open the shop in the console/,
    async () => {
      const owner = await signUp(on)
      const app = await makeApp(owner)
      const place = { owner_id: owner.id, app_id: app._id }
      const shop = {
        ...place,
        id: 'shp_doctor',
        secret_sealed: null,
        name: 'x',
        products: '[]',
        created_at: 0,
      }
      await on.database.db
        .insertInto('shops')
        .values({ ...shop, kind: 'custom' })
        .execute()
      const times = { sent_at: 0, received_at: 0, due_at: null }
      const event = { ...place, ...times, shop_id: shop.id, event_id: 'x', lane: 'x', body: null }
      await on.database.db.insertInto('shop_events').values(event).execute()
      return undefined
    },
    () => on.database.db.deleteFrom('shop_events').where('shop_id', '=', 'shp_doctor').execute(),
  ],
  [
    'mails that nobody takes',
    'queues',
    'warning',
    /^keyward doctor --mail/,
    async () => {
      const row = {
        id: 'mai_doctor',
        lane: 'x',
        state: 'queued',
        sealed: 'x',
        due_at: Date.now(),
        created_at: 0,
        attempts: 3,
        expires_at: Date.now() + day,
      }
      await on.database.db
        .insertInto('mails')
        .values(row as never)
        .execute()
      return undefined
    },
    () => on.database.db.deleteFrom('mails').where('id', '=', 'mai_doctor').execute(),
  ],
]

test.each(faults)('finds %s and says how to repair it', async (_name, check, state, fix, make, undo) => {
  const environment = (await make()) ?? {}
  try {
    const { code, findings } = await doctor(environment)
    expect(findings).toContainEqual({
      check,
      state,
      text: expect.any(String),
      fix: expect.stringMatching(fix),
    })
    expect(code).toBe(findings.some((one) => one.state === 'error') ? 2 : 1)
    expect(JSON.stringify(findings)).not.toContain('hidden')
  } finally {
    await undo()
  }
})

test('finds nothing wrong with a sound server, through its public address and with a mail', async () => {
  const sink = await SmtpSink.start()
  if (!on.config.databaseUrl) await keyward(on, ['backup'])
  await on.server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = on.server.server.address() as AddressInfo
  const environment = {
    ...{ PUBLIC_URL: `http://127.0.0.1:${port}`, SMTP_URL: `smtp://${sink.host}` },
    ...{ MAIL_FROM: 'k@example.com', PAYMENTS: 'off' },
  }
  const { code, findings } = await doctor(environment)
  const bad = findings.filter(({ check, state }) => state !== 'ok' && check !== 'disk')
  // The PostgreSQL of the tests trades safety for speed, which the check is there to find.
  const isLax = on.config.databaseUrl !== undefined
  const fixes = [expect.stringContaining('SET fsync = on'), expect.stringContaining('synchronous_commit')]
  expect(bad.map(({ fix }) => fix)).toEqual(isLax ? fixes : [])
  expect([code, sink.received.length]).toEqual([isLax ? 2 : 0, 0])
  expect((await doctor(environment, '--mail', 'you@example.com')).code).toBe(code)
  expect(sink.received).toMatchObject([{ to: ['you@example.com'] }])
  await sink.stop()
})

test('reports a database that is not there, and makes none', async () => {
  const environment = { DATA_DIR: join(on.dataDir, 'none') }
  const { code, stdout } = await runKeywardInHost(['doctor'], environment)
  expect(code).toBe(2)
  expect(stdout).toContain('error   database: There is no database in')
  expect(stdout).toContain('Fix: Set DATA_DIR')
})
