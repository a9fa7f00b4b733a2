// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { toOwnerActor } from '../../src/core/actor.ts'
import { day } from '../../src/core/clock.ts'
import { createSeal } from '../../src/core/crypto.ts'
import type { ActionRecord } from '../../src/db/index.ts'
import { transactRecorded } from '../../src/db/record.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  makePremium,
  type Owner,
  refusal,
  signUp,
  startProgram,
} from '../actors.ts'
import { never, startServer, type TestServer } from '../harness.ts'
import { addMember } from '../member-actor.ts'

const heartbeatMs = 150
let on: TestServer
let url: string
let owner: Owner
let app: Awaited<ReturnType<typeof makeApp>>

beforeEach(async () => {
  on = await startServer({}, { heartbeatMs })
  url = await on.server.listen({ port: 0, host: '127.0.0.1' })
  owner = await signUp(on)
  app = await makeApp(owner)
  await untilQuiet()
})
afterEach(() => on.close())

/** Opens a stream and reads it continuously. */
async function listen(token: string, at = url) {
  const stop = new AbortController()
  const response = await fetch(`${at}/api/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  })
  const stream = {
    response,
    text: '',
    ended: false,
    changes: () => stream.text.split('event: change').length - 1,
    activities: () => stream.text.split('event: activity').length - 1,
    /** The data of each change event. */
    nouns: () => [...stream.text.matchAll(/^event: change\ndata: (.*)$/gm)].map(([, nouns]) => nouns),
    beats: () => stream.text.split(': beat').length - 1,
    stop: () => stop.abort(),
  }
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) stream.text += decoder.decode(chunk, { stream: true })
    stream.ended = true
  })().catch(() => {})
  return stream
}

/** Waits until notifications of earlier changes have arrived: that of a later change comes after them. */
async function untilQuiet() {
  if (on.database.dialect !== 'postgres') return
  const later = await signUp(on)
  const stream = await listen(later.token)
  await makeApp(later)
  await expect.poll(() => stream.changes()).toBeGreaterThan(0)
  stream.stop()
}

/** Waits for a heartbeat sent after now, so that earlier events have arrived. */
const twoBeats = (stream: Awaited<ReturnType<typeof listen>>) => beatsOf(stream, 4)

async function beatsOf(stream: Awaited<ReturnType<typeof listen>>, count: number) {
  const seen = stream.beats()
  await expect.poll(() => stream.beats()).toBeGreaterThanOrEqual(seen + count)
}

test('answers with an event stream that no proxy buffers', async () => {
  const { response, stop } = await listen(owner.token)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  stop()
})

test('requires an owner session', async () => {
  for (const token of [undefined, 'kwo_made-up-token-of-more-than-20-letters']) {
    expect(refusal(await on.call('GET', '/events', { token }))).toBe('unauthorized')
  }
})

test('sends events for changes by the owner, its programs and its resellers, and for no other account', async () => {
  await makePremium(on, owner)
  const reseller = await owner.call('POST', '/resellers', {
    email: 'reseller@example.com',
    password: 'swordfish',
    app_id: app._id,
    allowed_license_keys: 5,
  })
  expect(reseller.status).toBe(201)
  const login = await on.call('POST', '/resellers/auth/login', {
    body: { email: 'reseller@example.com', password: 'swordfish' },
  })
  const otherOwner = await signUp(on)
  await untilQuiet()
  const theirs = await listen(otherOwner.token)
  /** Waits until a stream that begins before this has sent its noun. */
  const sends = async (noun: string, act: () => Promise<unknown>) => {
    const mine = await listen(owner.token)
    await act()
    await expect.poll(() => mine.nouns().join(' ')).toContain(noun)
    mine.stop()
  }
  await sends('licenses', () => makeLicenses(on, owner, app))
  await sends('end_user', () => activateKey(on, owner, app))
  await sends('licenses', () =>
    on.call('POST', '/resellers/auth/licenses', {
      token: login.json.data.token,
      body: { count: 1, expiresAt: on.clock.inDays(30) },
    }),
  )
  await twoBeats(theirs)
  expect(theirs.changes()).toBe(0)
})

test('sends no event for reads and rejected writes', async () => {
  const stream = await listen(owner.token)
  await owner.call('GET', '/licenses')
  await owner.call('GET', '/resellers/dashboard/data')
  expect((await owner.call('POST', '/apps', { name: '' })).status).toBe(400)
  const expiresAt = on.clock.inDays(3)
  expect((await owner.call('PUT', `/licenses/lic_${'0'.repeat(32)}`, { expiresAt })).status).toBe(404)
  await twoBeats(stream)
  expect(stream.changes()).toBe(0)
})

test('records are published once, after the commit, and never when the transaction rolls back', async () => {
  const published: (readonly ActionRecord[])[] = []
  const actor = toOwnerActor({
    accountId: owner.accountId,
    ownerId: owner.id,
    sessionId: 'ses_1',
    address: '127.0.0.1',
  })
  const run = (fail: boolean) =>
    transactRecorded(
      on.database.db,
      { actor, now: 0, publish: (records) => published.push(records) },
      async (write) => {
        write.record('license.banned', 'lic_1', {}, null)
        write.record('license.unbanned', 'lic_1', {}, null)
        expect(published).toEqual([])
        if (fail) throw new Error('rolled back')
      },
    )
  await expect(run(true)).rejects.toThrow('rolled back')
  expect(published).toEqual([])
  await run(false)
  expect(published.map((records) => records.map(({ action }) => action))).toEqual([
    ['license.banned', 'license.unbanned'],
  ])
})

test('sends the event after the commit, so an immediate read sees the change', async () => {
  const stream = await listen(owner.token)
  const received = expect.poll(() => stream.changes(), { interval: 5 }).toBe(1)
  const made = makeLicenses(on, owner, app, 7)
  await received
  const { json } = await owner.call('GET', '/licenses')
  expect(json.data.stats.total).toBe(7)
  await made
})

test('sends at most one event per second and never loses the last change', async () => {
  const [license] = await makeLicenses(on, owner, app)
  await untilQuiet()
  const stream = await listen(owner.token)
  const change = () => owner.call('PUT', `/licenses/${license?._id}`, { expiresAt: on.clock.inDays(9) })
  const began = performance.now()
  while (stream.changes() < 2) await change()
  // Timers are up to a millisecond early.
  expect(performance.now() - began).toBeGreaterThanOrEqual(999)
  await change()
  await owner.call('POST', '/customers', { email: 'last@example.com' })
  await expect.poll(() => stream.nouns().at(-1)).toContain('customer')
  expect(stream.changes() - 1).toBeLessThanOrEqual((performance.now() - began) / 999)
})

test('a change event names the nouns that changed; the events of one second are merged', async () => {
  const stream = await listen(owner.token)
  await makeLicenses(on, owner, app)
  await expect.poll(() => stream.nouns()).toEqual(['licenses'])
  // Two changes may be more than a second apart on a busy machine.
  for (let at = 1; !stream.nouns().includes('block customer'); at += 1) {
    await owner.call('POST', `/apps/${app._id}/blocklist`, { kind: 'hwid', value: `stolen-${at}` })
    await owner.call('POST', '/customers', { email: `buyer-${at}@example.com` })
    await expect.poll(() => stream.nouns().join(' ').split('customer').length - 1).toBe(at)
  }
  expect(stream.nouns()[0]).toBe('licenses')
})

test('a change of the settings ends no stream unless it requires a second factor', async () => {
  const stream = await listen(owner.token)
  await owner.call('PUT', '/settings', { hwidLock: false })
  await expect.poll(() => stream.nouns()).toEqual(['settings'])
  await twoBeats(stream)
  expect(stream.ended).toBe(false)
})

test('ends when its session ends; other streams stay open', async () => {
  const { json } = await on.call('POST', '/auth/login', {
    body: { email: owner.email, password: owner.password },
  })
  const [first, second] = [await listen(owner.token), await listen(json.data.token)]
  await on.call('POST', '/auth/logout', { token: owner.token })
  await expect.poll(() => first.ended).toBe(true)
  await twoBeats(second)
  expect(second.ended).toBe(false)
  on.clock.advance(31 * day)
  await expect.poll(() => second.ended).toBe(true)
})

test('ends at once, without waiting for a heartbeat, when its session is ended from elsewhere', async () => {
  const server = await startServer({}, { heartbeatMs: 60_000 })
  const at = await server.server.listen({ port: 0, host: '127.0.0.1' })
  const { email, password, token: mine } = await signUp(server)
  const signIn = async () =>
    (await server.call('POST', '/auth/login', { body: { email, password } })).json.data.token as string
  const [one, all] = [await signIn(), await signIn()]
  const streams = [await listen(mine, at), await listen(one, at), await listen(all, at)]
  const { sessions } = (await server.call('GET', '/auth/sessions', { token: one })).json.data
  const { _id } = sessions.find(({ current }: { current: boolean }) => current)
  await server.call('DELETE', `/auth/sessions/${_id}`, { token: mine })
  await expect.poll(() => streams.map(({ ended }) => ended)).toEqual([false, true, false])
  await server.call('DELETE', '/auth/sessions', { token: mine })
  await expect.poll(() => streams.map(({ ended }) => ended)).toEqual([false, true, true])
  await server.close()
})

test('ends at once, on every node, when a member is removed, may do something else or needs a second factor', async () => {
  const quiet = await startServer({}, { heartbeatMs: never })
  const nodes = [quiet.server]
  try {
    if (quiet.database.dialect === 'postgres') {
      const { config, database, clock, seal } = quiet
      const more = { heartbeatMs: never, consoleDir: '', logLevel: 'silent' } as const
      nodes.push(await buildApp({ config, database, clock, seal, ...more }))
    }
    const vendor = await signUp(quiet)
    const member = await addMember(quiet, vendor)
    const urls = await Promise.all(nodes.map((node) => node.listen({ port: 0, host: '127.0.0.1' })))
    const listenAll = () => Promise.all(urls.map((at) => listen(member.token, at)))
    const ended = (streams: Awaited<ReturnType<typeof listenAll>>) => streams.map((stream) => stream.ended)
    const all = urls.map(() => true)
    const before = await listenAll()
    await vendor.call('PATCH', `/members/${member._id}`, { role: 'viewer' })
    await expect.poll(() => ended(before)).toEqual(all)
    const after = await listenAll()
    expect(after.map(({ response }) => response.status)).toEqual(urls.map(() => 200))
    await vendor.call('DELETE', `/members/${member._id}`)
    await expect.poll(() => ended(after)).toEqual(all)
    const gone = await listenAll()
    expect(gone.map(({ response }) => response.status)).toEqual(urls.map(() => 401))
    const other = await addMember(quiet, vendor)
    const listening = await Promise.all(urls.map((at) => listen(other.token, at)))
    await vendor.call('PUT', '/settings', { requireSecondFactor: true })
    await expect.poll(() => ended(listening)).toEqual(all)
  } finally {
    await Promise.all(nodes.slice(1).map((node) => node.close()))
    await quiet.close()
  }
})

test('reaches a member with some apps only for those apps, on every node', async () => {
  await makePremium(on, owner)
  const other = await makeApp(owner, 'Borealis')
  const ofApp = await addMember(on, owner, { role: 'manager', apps: [app._id] })
  const ofOther = await addMember(on, owner, { role: 'manager', apps: [other._id] })
  const ofAll = await addMember(on, owner, { role: 'manager' })
  const { config, database, clock, seal } = on
  const more = { heartbeatMs, consoleDir: '', logLevel: 'silent' } as const
  // Nodes share PostgreSQL; an embedded database has one.
  const second =
    database.dialect === 'postgres' ? await buildApp({ config, database, clock, seal, ...more }) : undefined
  try {
    const urls = [url, ...(second ? [await second.listen({ port: 0, host: '127.0.0.1' })] : [])]
    await untilQuiet()
    const listenAs = ({ token }: { token: string }) => Promise.all(urls.map((at) => listen(token, at)))
    const [inApp, inOther, inAll] = [await listenAs(ofApp), await listenAs(ofOther), await listenAs(ofAll)]
    const least = (streams: typeof inApp, topic: 'changes' | 'activities') =>
      Math.min(...streams.map((stream) => stream[topic]()))
    /** Waits until the topic has reached these streams; the heartbeats after it prove that it reached no other. */
    const reaches = async (
      topic: 'changes' | 'activities',
      reached: (typeof inApp)[],
      act: () => unknown,
    ) => {
      const all = [inApp, inOther, inAll]
      const before = all.map((streams) => streams.map((stream) => stream[topic]()))
      await act()
      for (const streams of reached)
        await expect
          .poll(() => least(streams, topic))
          .toBeGreaterThan(Math.max(...before[all.indexOf(streams)]!))
      for (const streams of all.filter((one) => !reached.includes(one))) {
        await Promise.all(streams.map(twoBeats))
        expect(streams.map((stream) => stream[topic]())).toEqual(before[all.indexOf(streams)])
      }
    }
    await reaches('changes', [inOther, inAll], () => makeLicenses(on, owner, other))
    await reaches('changes', [inApp, inAll], () => makeLicenses(on, owner, app))
    await reaches('changes', [inAll], () =>
      owner.call('POST', '/api-keys', { name: 'Build server', permissions: ['licenses:read'] }),
    )
    await reaches('activities', [inOther, inAll], () => startProgram(on, other))
    // Further activity of that second would arrive at its end.
    await Promise.all([inOther, inAll].flat().map((stream) => beatsOf(stream, 1100 / heartbeatMs)))
    await reaches('activities', [inApp, inAll], () => startProgram(on, app))
    for (const streams of [inApp, inOther, inAll]) for (const { stop } of streams) stop()
  } finally {
    await second?.close()
  }
})

test('allows 30 streams per person, whatever others of the team open; closing one frees a place', async () => {
  const member = await addMember(on, owner, { role: 'viewer' })
  const streams = await Promise.all(Array.from({ length: 30 }, () => listen(owner.token)))
  const refused = await on.call('GET', '/events', { token: owner.token })
  expect(refusal(refused)).toBe('rate_limited')
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await listen(member.token)).response.status).toBe(200)
  expect((await listen((await signUp(on)).token)).response.status).toBe(200)
  streams[0]?.stop()
  await expect
    .poll(async () => {
      const again = await listen(owner.token)
      return again.response.status
    })
    .toBe(200)
})

test('a HEAD request leaves no stream open', async () => {
  for (let i = 0; i < 40; i += 1) {
    const { status } = await fetch(`${url}/api/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${owner.token}` },
    })
    expect(status).toBe(200)
  }
  expect((await listen(owner.token)).response.status).toBe(200)
})

test('closing the server ends every stream', async () => {
  const streams = [await listen(owner.token), await listen(owner.token)]
  // With an open stream it would never end.
  await on.server.close()
  await expect.poll(() => streams.every((stream) => stream.ended)).toBe(true)
})

if (process.env.TEST_DATABASE === 'postgres') {
  test('sends events for changes made through another node', async () => {
    const { config, database, clock } = on
    const seal = createSeal(config.secretKey ?? '')
    const other = await buildApp({
      config,
      database,
      seal,
      clock,
      heartbeatMs,
      consoleDir: '',
      logLevel: 'silent',
    })
    const otherUrl = await other.listen({ port: 0, host: '127.0.0.1' })
    const stream = await listen(owner.token, otherUrl)
    await makeLicenses(on, owner, app)
    await expect.poll(() => stream.changes()).toBe(1)
    await other.close()
  })

  test('ends at once when its session is ended through another node', async () => {
    const { config, database, clock } = on
    const seal = createSeal(config.secretKey ?? '')
    const options = { config, database, seal, clock, heartbeatMs: 60_000, consoleDir: '' }
    const other = await buildApp({ ...options, logLevel: 'silent' })
    const stream = await listen(owner.token, await other.listen({ port: 0, host: '127.0.0.1' }))
    const { email, password } = owner
    const { token } = (await on.call('POST', '/auth/login', { body: { email, password } })).json.data
    expect((await on.call('DELETE', '/auth/sessions', { token })).status).toBe(200)
    await expect.poll(() => stream.ended).toBe(true)
    await other.close()
  })

  test('a node reconnects its lost listener and reports missed changes first', async () => {
    const stream = await listen(owner.token)
    if (on.database.dialect !== 'postgres') throw new Error('not PostgreSQL')
    const { rowCount } = await on.database.pool.query({
      text: "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'",
      values: [],
    })
    expect(rowCount).toBe(1)
    await expect.poll(() => stream.changes()).toBe(1)
    await makeLicenses(on, owner, app)
    await expect.poll(() => stream.nouns()).toEqual(['*', 'licenses'])
  })
}
