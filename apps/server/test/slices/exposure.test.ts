import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { system } from '../../src/core/actor.ts'
import { day } from '../../src/core/clock.ts'
import { tellDevices } from '../../src/modules/releases/told.access.ts'
import {
  makeApp,
  makeLicenses,
  makePremium,
  type Program,
  refusal,
  signUp,
  single,
  startProgram,
} from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForEach, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { startServer, transactionsOn } from '../harness.ts'
import { rounds, times } from '../rounds.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

/** Signs a machine in with its own key. */
async function runOn(
  hwid: string,
  version: string,
  key?: string,
): Promise<{ program: Program; key: string }> {
  const licenseKey = key ?? single<{ key: string }>(await makeLicenses(on, owner, app)).key
  const program = await startProgram(on, app, { version })
  expect((await program.call('POST', '/license', { licenseKey, hwid })).status).toBe(200)
  return { program, key: licenseKey }
}

const check = async ({ program }: { program: Program }) =>
  expect((await program.call('GET', '/session')).status).toBe(200)

const inUse = async () => (await owner.call('GET', `/apps/${app._id}/versions`)).json.data

const deviceOf = (hwid: string) =>
  on.database.db
    .selectFrom('devices')
    .select(['id', 'client_id', 'version'])
    .where('app_id', '=', app._id)
    .where('hwid', '=', hwid)
    .executeTakeFirstOrThrow()

describe('versions in use', () => {
  test('counts bound devices by the version of their last sign-in or check', async () => {
    const first = await runOn('pc-1', '1.9.0')
    await runOn('pc-2', '1.10.0')
    await runOn('pc-3', 'nightly')
    on.clock.advance(2 * day)
    const atlas = await startProgram(on, app)
    const licenseKey = single<{ key: string }>(await makeLicenses(on, owner, app)).key
    expect((await atlas.call('POST', '/license', { licenseKey })).status).toBe(200)
    const body = {
      appId: app._id,
      username: 'gimli',
      password: 'swordfish',
      expiresAt: on.clock.inDays(9),
      hwid: 'pc-4',
    }
    expect((await owner.call('POST', '/clients/create-direct', body)).status).toBe(201)
    const seen = on.clock.inDays(-2)
    expect(await inUse()).toEqual({
      versions: [
        { version: '1.10.0', devices: 1, lastSeenAt: seen },
        { version: '1.9.0', devices: 1, lastSeenAt: seen },
        { version: 'nightly', devices: 1, lastSeenAt: seen },
      ],
      unknown: 1,
      unseen: 0,
    })
    await runOn('pc-1', '1.10.0', first.key)
    on.clock.advance(29 * day)
    expect(await inUse()).toEqual({
      versions: [{ version: '1.10.0', devices: 1, lastSeenAt: on.clock.inDays(-29) }],
      unknown: 1,
      unseen: 2,
    })
    const { id, client_id } = await deviceOf('pc-1')
    expect((await owner.call('DELETE', `/clients/${client_id}/devices/${id}`)).status).toBe(200)
    expect((await inUse()).versions).toEqual([])
    expect(
      await on.database.db.selectFrom('former_versions').selectAll().where('app_id', '=', app._id).execute(),
    ).toEqual([])
  })

  test('a check writes once a day for each version of a device', async () => {
    const old = await runOn('pc-1', '1.0.0')
    const fresh = await runOn('pc-1', '2.0.0', old.key)
    const version = async () => (await deviceOf('pc-1')).version
    expect(await version()).toBe('2.0.0')
    await check(old)
    await expect.poll(version).toBe('1.0.0')
    await check(old)
    await check(fresh)
    await check(old)
    await expect.poll(version).toBe('2.0.0')
  })

  test('keeps the versions that a device left last, however many it names', async () => {
    const { key } = await runOn('pc-1', '1.0.0')
    for (let at = 1; at <= 22; at += 1) {
      on.clock.advance(1)
      await runOn('pc-1', `1.${at}.0`, key)
    }
    const left = await on.database.db
      .selectFrom('former_versions')
      .select('version_order')
      .where('app_id', '=', app._id)
      .orderBy('version_order')
      .execute()
    expect(left).toHaveLength(20)
    expect(left[0]?.version_order).toBe('000000001.000000002.000000000')
  })
})

const severe = {
  severity: 'critical',
  affects: [{ from: '1.5.0', before: '1.15.0' }],
  summary: 'A crafted project file runs code',
  advisory: 'https://example.com/advisories/7',
}

/** Adds the release that repairs 1.5.0 up to 1.14.x, and returns its id. */
async function addFix(fields: object = {}): Promise<string> {
  const body = { version: '1.20.0', releasedAt: on.clock.inDays(0), security: severe, ...fields }
  const { json } = await owner.call('POST', `/apps/${app._id}/releases`, body)
  return json.data.release._id
}

const exposure = async (id: string) => (await owner.call('GET', `/releases/${id}/exposure`)).json.data
const dateIn = (days: number) => on.clock.inDays(days).slice(0, 10)

interface Machine {
  hwid: string
  key: string
  customer: string | null
  version: string
  seen: number
  wasAffected: boolean
  program?: Program
  isBound: boolean
}

const minorOf = ({ version }: Machine) => Number(version.split('.')[1])
const isAffected = (machine: Machine) => minorOf(machine) >= 5 && minorOf(machine) < 15

describe('exposure', () => {
  const perVersion = rounds(4, 500)

  test('equals the true count each day, while programs update, come back and go', async () => {
    const machines: Machine[] = []
    for (let minor = 0; minor < 20; minor += 1) {
      const customer = minor % 4 === 3 ? null : `c${minor % 7}@example.com`
      const count = Math.min(perVersion, 100)
      const body = { app: app._id, expiresAt: null, count, ...(customer && { customer }) }
      for (let made = 0; made < perVersion; made += count) {
        const { licenses } = (await owner.call('POST', '/licenses', body)).json.data
        for (const [at, { key }] of licenses.entries())
          machines.push({
            ...{ hwid: `pc-${minor}-${made + at}`, key, customer, version: `1.${minor}.0`, seen: 0 },
            ...{ wasAffected: false, isBound: true },
          })
      }
    }
    const signIn = async (machine: Machine, version: string) => {
      const { program } = await runOn(machine.hwid, version, machine.key)
      Object.assign(machine, { program, version, seen: on.clock.now() })
    }
    for (const some of slices(machines)) await Promise.all(some.map((one) => signIn(one, one.version)))
    const id = await addFix()
    for (const machine of machines) machine.wasAffected = isAffected(machine)
    const isSeen = ({ seen }: Machine) => seen >= on.clock.now() - 30 * day
    const truth = () => {
      const bound = machines.filter(({ isBound }) => isBound)
      return {
        devices: bound.filter((one) => isAffected(one) && isSeen(one)).length,
        unseen: bound.filter((one) => isAffected(one) && !isSeen(one)).length,
        repaired: bound.filter((one) => one.wasAffected && !isAffected(one)).length,
      }
    }
    const days: { date: string; devices: number }[] = []
    const isOnline = (_: Machine, at: number) => at % 2 === 0
    const online = machines.filter(isOnline)
    const expectAdvised = async ({ program, ...machine }: Machine) => {
      const { json } = (await program?.call('GET', '/session')) ?? {}
      const { severity, summary, advisory: url } = severe
      const advisory = { version: '1.20.0', severity, summary, url }
      expect(json.data.advisory).toEqual(isAffected(machine) ? advisory : null)
    }
    for (const some of slices(online)) await Promise.all(some.map(expectAdvised))
    const told = async () => (await exposure(id)).told.devices
    await expect.poll(told).toBe(online.filter(isAffected).length)
    for (let past = 0; past < 3; past += 1) {
      const updated = online.filter((one, at) => isAffected(one) && at % 3 === past)
      for (const some of slices(updated)) await Promise.all(some.map((one) => signIn(one, '1.20.0')))
      const { devices, unseen, repaired, ...rest } = await exposure(id)
      expect({ devices, unseen, repaired }).toEqual(truth())
      expect(rest.days).toEqual([...days, { date: dateIn(0), devices }])
      days.push({ date: dateIn(0), devices })
      on.clock.advance(day)
      await tidyUp(on)
    }
    expect(days.map(({ devices }) => devices)).toEqual(
      days.map(({ devices }) => devices).toSorted((one, other) => other - one),
    )
    on.clock.advance(28 * day)
    expect(await exposure(id)).toMatchObject(truth())
    expect(truth().unseen).toBe(machines.filter(isAffected).length)
    const offline = machines.filter((one, at) => !isOnline(one, at) && isAffected(one))
    const [stays, updates, leaves, erased] = [0, 1, 2, 3].map((rest) =>
      offline.filter((one, at) => at % 4 === rest && (rest !== 3 || one.customer === 'c5@example.com')),
    ) as [Machine[], Machine[], Machine[], Machine[]]
    for (const one of stays) {
      await signIn(one, one.version)
      await expectAdvised(one)
    }
    const toldFirst = machines.filter((one, at) => isOnline(one, at) && one.wasAffected).length
    await expect.poll(told).toBe(toldFirst + stays.length)
    for (const one of updates) await signIn(one, '1.20.1')
    for (const one of leaves) {
      const { id: device, client_id } = await deviceOf(one.hwid)
      expect((await owner.call('DELETE', `/clients/${client_id}/devices/${device}`)).status).toBe(200)
      one.isBound = false
    }
    const exposed = () => {
      const affected = machines.filter((one) => one.isBound && isAffected(one) && one.customer !== null)
      return [...Map.groupBy(affected, ({ customer }) => customer)]
        .map(([email, all]) => ({ email, devices: all.length }))
        .toSorted((one, other) => String(one.email).localeCompare(String(other.email)))
    }
    expect(await exposure(id)).toMatchObject(truth())
    expect(await customersOf(id)).toEqual(exposed())
    const { customers } = (await owner.call('GET', '/customers?search=c5@')).json.data
    expect((await owner.call('DELETE', `/customers/${single<{ _id: string }>(customers)._id}`)).status).toBe(
      200,
    )
    for (const one of machines) if (one.customer === 'c5@example.com') one.isBound = false
    expect(erased.length).toBeGreaterThan(0)
    expect(await exposure(id)).toMatchObject(truth())
    expect(await customersOf(id)).toEqual(exposed())
  })

  test('says which versions are affected, and how many are unknown', async () => {
    await runOn('pc-1', '1.5.0')
    await runOn('pc-2', '1.14.9')
    await runOn('pc-3', '1.15.0')
    await runOn('pc-4', '1.9')
    const id = await addFix()
    expect(await exposure(id)).toEqual({
      ...{ devices: 2, repaired: 0, unseen: 0, unknown: 1, told: { devices: 0, customers: 0 } },
      versions: [
        { version: '1.14.9', devices: 1 },
        { version: '1.5.0', devices: 1 },
      ],
      days: [{ date: dateIn(0), devices: 2 }],
    })
    const noRange = await addFix({ version: '1.21.0', security: { ...severe, affects: [] } })
    expect(await exposure(noRange)).toMatchObject({ devices: 0, versions: [] })
    const open = await addFix({ version: '1.22.0', security: { ...severe, affects: [{ from: '1.15.0' }] } })
    expect(await exposure(open)).toMatchObject({ devices: 1, versions: [{ version: '1.15.0' }] })
    const plain = await addFix({ version: '1.23.0', security: null })
    expect(refusal(await owner.call('GET', `/releases/${plain}/exposure`))).toBe('release_repairs_nothing')
  })

  test('keeps the days when the devices and their end users are gone', async () => {
    const { program } = await runOn('pc-1', '1.9.0')
    await runOn('pc-2', '1.9.0')
    const id = await addFix()
    // The day before the fix was listed is not one of its days.
    await tidyUp(on)
    on.clock.advance(day)
    await tidyUp(on)
    expect((await program.call('GET', '/session')).status).toBe(401)
    const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
    for (const { _id } of clients) await owner.call('DELETE', `/clients/${_id}`)
    expect((await exposure(id)).days).toEqual([
      { date: dateIn(-1), devices: 2 },
      { date: dateIn(0), devices: 0 },
    ])
    expect((await owner.call('DELETE', `/apps/${app._id}`)).status).toBe(200)
    const left = await on.database.db
      .selectFrom('release_days')
      .selectAll()
      .where('release_id', '=', id)
      .execute()
    expect(left).toEqual([])
  })
})

test('counts all fixes of an app each day, and one that exposes nobody for seven days no more', async () => {
  const { key } = await runOn('pc-1', '1.9.0')
  const ids = [await addFix(), await addFix({ version: '1.21.0' })]
  const late = await addFix({ version: '1.22.0', security: { ...severe, affects: [{ before: '1.0.0' }] } })
  const nextDay = async () => {
    on.clock.advance(day)
    await tidyUp(on)
  }
  const daysOf = async (id: string) =>
    (await exposure(id)).days.map(({ devices }: { devices: number }) => devices)
  await nextDay()
  for (const id of ids) expect(await daysOf(id)).toEqual([1, 1])
  await runOn('pc-1', '1.22.0', key)
  await nextDay()
  for (const id of ids) expect(await daysOf(id)).toEqual([1, 0, 0])
  // Everything was seven days earlier.
  const { db } = on.database
  const moved = [...ids, late]
  await db
    .updateTable('release_days')
    .set((eb) => ({ day: eb('day', '-', 7) }))
    .where('release_id', 'in', moved)
    .execute()
  await db
    .updateTable('releases')
    .set((eb) => ({ created_at: eb('created_at', '-', 7 * day) }))
    .where('id', 'in', moved)
    .execute()
  await nextDay()
  for (const id of moved) expect((await daysOf(id)).slice(-2)).toEqual([0, 0])
  expect((await exposure(late)).days).toHaveLength(3)
  await check(await runOn('pc-2', '0.9.0'))
  await expect.poll(async () => (await exposure(late)).told.devices).toBe(1)
  await nextDay()
  expect((await exposure(late)).days.slice(2)).toEqual([
    { date: dateIn(-1), devices: 1 },
    { date: dateIn(0), devices: 1 },
  ])
})

/** The addresses of the exposed customers with their devices, from the list and from the export. */
async function customersOf(id: string): Promise<{ email: string; devices: number }[]> {
  const pages: { email: string; devices: number }[] = []
  for (let page = 1; ; page += 1) {
    const query = `/releases/${id}/exposure/customers?page=${page}&limit=2`
    const { customers, pagination } = (await owner.call('GET', query)).json.data
    pages.push(
      ...customers.map(({ email, devices }: { email: string; devices: number }) => ({ email, devices })),
    )
    if (page >= pagination.pages) break
  }
  const { raw } = await owner.call('GET', `/releases/${id}/exposure/customers/export?format=json`)
  const exported: { email: string; devices: number }[] = JSON.parse(String(raw))
  expect(exported.map(({ email, devices }) => ({ email, devices }))).toEqual(pages)
  return pages.toSorted((one, other) => one.email.localeCompare(other.email))
}

describe('the evidence of a release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyward-evidence-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Runs the two programs of the documentation: one for Node.js, and one for OpenSSL. */
  const verifiedBy = (evidence: string, keys: string) => {
    const guide = readFileSync(new URL('../../../../docs/security-updates.md', import.meta.url), 'utf8')
    const programOf = (language: string) =>
      new RegExp(`\`\`\`${language}\n(.+?)\`\`\``, 's').exec(guide)?.[1] ?? ''
    const files = {
      ...{ 'verify.mjs': programOf('js'), 'verify.sh': programOf('sh') },
      ...{ 'evidence.jws': evidence, 'keys.json': keys },
    }
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    // Other systems have other tools of that name.
    const openssl = process.platform === 'linux' ? [['sh', 'verify.sh']] : []
    return [[process.execPath, 'verify.mjs'], ...openssl].map(([tool = '', program = '']) =>
      spawnSync(tool, [program, 'evidence.jws', 'keys.json'], { cwd: folder, encoding: 'utf8' }),
    )
  }

  /** What the evidence states, once the programs of the documentation have verified it. */
  const evidenceOf = async (id: string) => {
    const { status, raw, headers } = await owner.call('GET', `/releases/${id}/evidence`)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/jose')
    const keys = String((await on.call('GET', `/client/apps/${app.appId}/keys`)).raw)
    const changed = String(raw).replace(/\.../, '.e1')
    for (const refusal of verifiedBy(changed, keys)) expect(refusal).toMatchObject({ status: 1, stdout: '' })
    const [first, ...others] = verifiedBy(String(raw), keys)
    expect(first?.status).toBe(0)
    for (const { stdout } of others) expect(stdout.trim()).toBe(first?.stdout.trim())
    return JSON.parse(first?.stdout ?? '')
  }

  test('says what each device was told and when; of those deleted since the numbers stay', async () => {
    await runOn('pc-1', '1.9.0')
    await runOn('pc-2', '1.9.1')
    const id = await addFix()
    const told = [await deviceOf('pc-1'), await deviceOf('pc-2'), { id: 'dev_deleted', version: '1.9.0' }]
    const tell = () =>
      transactionsOn(on.database, on.clock)(system, ({ tx, now }) =>
        tellDevices(
          tx,
          told.map((one) => ({ releaseId: id, deviceId: one.id, version: one.version ?? '' })),
          now,
        ),
      )
    await tell()
    on.clock.advance(day)
    await tell()
    expect(await evidenceOf(id)).toEqual({
      ...{ iss: 'keyward', aud: app.appId, iat: Math.floor(on.clock.now() / 1000) },
      app: { _id: app._id, appId: app.appId, name: 'Atlas' },
      release: {
        ...{ _id: id, version: '1.20.0', releasedAt: on.clock.inDays(-1), withdrawnAt: null },
        security: severe,
      },
      exposure: {
        ...{ devices: 2, repaired: 0, unseen: 0, unknown: 0 },
        versions: [
          { version: '1.9.1', devices: 1 },
          { version: '1.9.0', devices: 1 },
        ],
      },
      told: { devices: 2, customers: 0 },
      days: [
        { date: dateIn(-1), devices: null, toldDevices: 2, toldCustomers: 0 },
        { date: dateIn(0), devices: 2, toldDevices: 0, toldCustomers: 0 },
      ],
      devices: expect.arrayContaining([
        { _id: told[0]?.id, version: '1.9.0', toldAt: on.clock.inDays(-1) },
        { _id: told[1]?.id, version: '1.9.1', toldAt: on.clock.inDays(-1) },
      ]),
      customers: [],
    })
    const { client_id } = await deviceOf('pc-1')
    expect((await owner.call('DELETE', `/clients/${client_id}`)).status).toBe(200)
    const { devices, told: numbers } = await evidenceOf(id)
    expect(devices).toHaveLength(1)
    expect(numbers).toEqual({ devices: 2, customers: 0 })
  })

  test('names all customers who were mailed, also for an API key with some apps', async () => {
    const body = { app: app._id, expiresAt: null, customer: 'ada@example.com' }
    expect((await owner.call('POST', '/licenses', body)).status).toBe(201)
    const id = await addFix()
    const { db } = on.database
    const isOfApp = sql<boolean>`id in (select customer_id from licenses where app_id = ${app._id})`
    const rowOf = async (table: 'customers' | 'customer_faces') => {
      const { seq, ...row } = await db.selectFrom(table).selectAll().where(isOfApp).executeTakeFirstOrThrow()
      return row
    }
    const [customer, face] = [await rowOf('customers'), await rowOf('customer_faces')]
    const count = rounds(1_500, 20_000)
    const copies = Array.from({ length: count }, (_, at) => ({
      id: `cus_${at}`,
      email: `mailed${at}@example.com`,
    }))
    for (const some of slices(copies)) {
      const customers = some.map((one) => ({
        ...customer,
        ...one,
        email_normalized: one.email,
        mail_token: null,
      }))
      const faces = some.map(({ id: customer_id }) => ({ ...face, id: customer_id, customer_id }))
      const told = some.map(({ id: customer_id }) => ({
        ...{ release_id: id, customer_id, devices: 1, at: on.clock.now() },
      }))
      await db
        .insertInto('customers')
        .values(customers as never)
        .execute()
      await db
        .insertInto('customer_faces')
        .values(faces as never)
        .execute()
      await db.insertInto('told_customers').values(told).execute()
    }
    await owner.call('POST', '/auth/confirm', { password: owner.password })
    const key = await makeApiKey(on, owner, {
      permissions: ['releases:read', 'clients:read'],
      apps: [app._id],
    })
    for (const caller of [owner, key]) {
      const { status, raw } = await caller.call('GET', `/releases/${id}/evidence`)
      expect(status).toBe(200)
      const text = Buffer.from(String(raw).split('.')[1] ?? '', 'base64url').toString()
      expect(JSON.parse(text).customers).toHaveLength(count)
    }
  })
})

describe('a call that notifies', () => {
  beforeAll(() => void Object.assign(on.config, { smtpUrl: 'smtp://127.0.0.1:1' }))

  const notify = (id: string, body: object = {}) => owner.call('POST', `/releases/${id}/notify`, body)

  const runOf = async (customer: string | null, hwid: string, version: string) => {
    const body = { app: app._id, expiresAt: null, ...(customer && { customer }) }
    const { license } = (await owner.call('POST', '/licenses', body)).json.data
    await runOn(hwid, version, license.key)
  }

  const mailed = async () => {
    const { mails } = (await owner.call('GET', `/customer-mails?app=${app._id}&kind=security`)).json.data
    return mails.map(({ customer }: { customer: { email: string } }) => customer.email).toSorted()
  }

  test('mails each customer with an affected device once, also when called at once', async () => {
    await runOf('ada@example.com', 'pc-1', '1.9.0')
    await runOf('ada@example.com', 'pc-2', '1.9.0')
    await runOf('bert@example.com', 'pc-3', '1.9.0')
    await runOf('cleo@example.com', 'pc-4', '1.15.0')
    await runOf(null, 'pc-5', '1.9.0')
    const id = await addFix()
    expect((await notify(id, { dryRun: true })).json.data).toEqual({ customers: 2, told: 0, unreachable: 1 })
    expect(await mailed()).toEqual([])
    const answers = await times(4, () => notify(id))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const sums = answers.map(({ json }) => json.data.customers)
    expect(sums.reduce((sum, customers) => sum + customers, 0)).toBe(2)
    expect(await mailed()).toEqual(['ada@example.com', 'bert@example.com'])
    await runOf('dora@example.com', 'pc-6', '1.9.0')
    expect((await notify(id)).json.data).toEqual({ customers: 1, told: 2, unreachable: 1 })
    expect(await mailed()).toEqual(['ada@example.com', 'bert@example.com', 'dora@example.com'])
    const { records } = (await owner.call('GET', `/audit?subject=${id}`)).json.data
    const notified = records.filter(({ action }: { action: string }) => action === 'release.notified')
    expect(notified[0].detail).toEqual({ appId: app._id, version: '1.20.0', count: 1 })
    expect((await exposure(id)).told.customers).toBe(3)
    const listed = (await owner.call('GET', `/releases/${id}/exposure/customers`)).json.data.customers
    expect(listed.map(({ toldAt }: { toldAt: string | null }) => toldAt)).toEqual(
      listed.map(() => on.clock.inDays(0)),
    )
    const evidence = async () =>
      JSON.parse(
        Buffer.from(
          String((await owner.call('GET', `/releases/${id}/evidence`)).raw).split('.')[1] ?? '',
          'base64url',
        ).toString(),
      )
    const stated = { _id: listed[0]._id, email: 'dora@example.com', devices: 1, toldAt: on.clock.inDays(0) }
    for (const mail of ['sent', 'failed'] as const) {
      await on.database.db
        .updateTable('customer_mails')
        .set({ state: mail })
        .where('subject', '=', `${id} ${listed[0]._id}`)
        .execute()
      expect((await evidence()).customers).toContainEqual({ ...stated, mail })
    }
    expect((await owner.call('DELETE', `/customers/${listed[0]._id}`)).status).toBe(200)
    const { customers, told } = await evidence()
    expect(customers.map(({ email }: { email: string }) => email).toSorted()).toEqual([
      'ada@example.com',
      'bert@example.com',
    ])
    expect(told.customers).toBe(3)
  })

  test('mails about three releases within a week, those removed since included', async () => {
    await runOf('ada@example.com', 'pc-1', '1.9.0')
    // Other tests have mailed, too.
    on.clock.advance(7 * day)
    const fixes = []
    for (let patch = 0; patch < 4; patch += 1) fixes.push(await addFix({ version: `1.20.${patch}` }))
    const [first = '', second = '', third = '', fourth = ''] = fixes
    for (const id of [first, second, third]) expect((await notify(id)).status).toBe(200)
    expect((await owner.call('DELETE', `/releases/${first}`)).status).toBe(200)
    expect(refusal(await notify(fourth))).toBe('notices_used_up')
    expect((await notify(second)).json.data.customers).toBe(0)
    on.clock.advance(7 * day)
    expect((await notify(fourth)).json.data.customers).toBe(1)
  })

  test('refuses without a mail server, and for a release that is not out', async () => {
    await runOf('ada@example.com', 'pc-1', '1.9.0')
    const id = await addFix()
    Object.assign(on.config, { smtpUrl: undefined })
    expect(refusal(await notify(id))).toBe('mail_off')
    Object.assign(on.config, { smtpUrl: 'smtp://127.0.0.1:1' })
    const later = await addFix({ version: '1.21.0', releasedAt: on.clock.inDays(3) })
    expect(refusal(await notify(later))).toBe('release_not_out')
    expect((await owner.call('POST', `/releases/${id}/withdraw`)).status).toBe(200)
    expect(refusal(await notify(id, { dryRun: true }))).toBe('release_not_out')
  })
})

const slices = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / 20) }, (_, at) => all.slice(20 * at, 20 * (at + 1)))

test('what was noted is written when the server stops', async () => {
  const other = await startServer()
  const vendor = await signUp(other)
  await makePremium(other, vendor)
  const atlas = await makeApp(vendor)
  const licenseKey = single<{ key: string }>(await makeLicenses(other, vendor, atlas)).key
  const program = await startProgram(other, atlas)
  await program.call('POST', '/license', { licenseKey, hwid: 'pc-1' })
  await other.database.db.updateTable('devices').set({ version: '0.9.0' }).execute()
  expect((await program.call('GET', '/session')).status).toBe(200)
  await other.server.close()
  expect(await other.database.db.selectFrom('devices').select('version').execute()).toEqual([
    { version: '1.0.0' },
  ])
  await other.close()
})
