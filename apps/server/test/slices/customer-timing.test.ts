// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { comparisonsOf } from '../../src/core/passwords/compare-hash.ts'
import { HashThreads } from '../../src/core/passwords/hash-threads.ts'
import { costOf } from '../../src/core/passwords/imported-hashes.ts'
import { Passwords } from '../../src/core/passwords/passwords.ts'
import { makePremium, type Owner, registerUser, signUp } from '../actors.ts'
import { logIn, openPage } from '../customer-actor.ts'
import { eventually } from '../eventually.ts'
import { appForEach } from '../fixtures.ts'
import { startServer, type TestServer } from '../harness.ts'
import { importAll, keyAuthUser, usersFile } from '../imported.ts'
import { queuedMails } from '../queued-mails.ts'
import { isFull } from '../rounds.ts'
import { SmtpSink } from '../smtp-sink.ts'
import { compareTimes, equalTimes, samples } from '../timing.ts'

/** The real threads, until `work` is set: then they say what each comparison would cost, and take no time. */
class CountingThreads extends HashThreads {
  work: { bcrypt: number; own: number }[] | undefined

  override async verify(...compared: Parameters<HashThreads['verify']>): Promise<boolean> {
    if (!this.work) return super.verify(...compared)
    const costs = comparisonsOf(...compared).map(({ hash }) => costOf(hash))
    const imported = costs.filter((cost) => !Number.isNaN(cost))
    const bcrypt = imported.reduce((sum, cost) => sum + 2 ** cost, 0)
    this.work.push({ bcrypt, own: costs.length - imported.length })
    return compared[1] === 'ring-bearer-1'
  }
}

const threads = new CountingThreads()
let sink: SmtpSink
let on: TestServer
const owner = {} as Owner
beforeAll(async () => {
  sink = await SmtpSink.start()
  on = await startServer(
    { SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'http://127.0.0.1:4000' },
    { passwords: new Passwords({ threads }), deliveriesEveryMs: 20 },
  )
  Object.assign(owner, await signUp(on))
  await makePremium(on, owner)
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})
const app = appForEach(owner)
const calls = samples + 5

const expectEqual = (share: number) => {
  expect(share).toBeGreaterThan(equalTimes.least)
  expect(share).toBeLessThan(equalTimes.most)
}

/** No link is looked up and no mail is sent any more. */
const settled = () =>
  eventually(
    async () => {
      expect(await on.database.db.selectFrom('reset_requests').select('id').execute()).toEqual([])
      expect(await queuedMails(on)).toEqual([])
    },
    { interval: 2 },
  )

test.skipIf(!isFull)('a request for a link takes as long for customers as for others', async () => {
  await openPage(owner, app)
  for (let at = 0; at < calls; at += 1) {
    const body = { app: app._id, expiresAt: on.clock.inDays(30), customer: `known${at}@engines.example` }
    expect((await owner.call('POST', '/licenses', body)).status).toBe(201)
  }
  const ask = (kind: string, network: number) => async (at: number) => {
    const body = { email: `${kind}${at}@engines.example` }
    const from = `10.${network}.${at >> 8}.${at & 255}`
    expect((await on.call('POST', `/customer/${app.appId}/mail`, { body, from })).status).toBe(200)
  }
  expectEqual(await compareTimes([ask('known', 1), ask('other', 2)], settled))
  await settled()
  // The first kind is the one that gets mail.
  expect(sink.received.filter(({ to }) => to[0]?.startsWith('known'))).toHaveLength(calls)
  expect(sink.received.filter(({ to }) => to[0]?.startsWith('other'))).toHaveLength(0)
})

test.skipIf(!isFull)('a wrong password takes as long as an unknown name', async () => {
  await openPage(owner, app)
  await registerUser(on, owner, app)
  const guess = (name: string, network: number) => async (at: number) => {
    const from = `10.${network}.${at >> 8}.${at & 255}`
    const proof = { username: name.padEnd(5, String(at)), password: 'wrong password' }
    expect((await logIn(on, app, proof, { from })).status).toBe(401)
  }
  expectEqual(await compareTimes([guess('alice', 3), guess('x', 4)]))
})

test('a wrong password costs as much for an imported hash of any cost, for one of our own and for an unknown name', async () => {
  await openPage(owner, app)
  await registerUser(on, owner, app)
  const [proof, from] = [{ password: 'wrong password' }, '10.9.0.1']
  const workOf = async (username: string) => {
    threads.work = []
    expect((await logIn(on, app, { ...proof, username }, { from })).status).toBe(401)
    return threads.work
  }
  expect(await workOf('alice')).toEqual([{ bcrypt: 0, own: 1 }])
  const cost12 = `$2y$12$${'a'.repeat(53)}`
  await importAll(owner, app, [usersFile([keyAuthUser('frodo'), keyAuthUser('sam', { password: cost12 })])])
  for (const name of ['frodo', 'sam', 'alice', 'nobody'])
    expect([name, await workOf(name)]).toEqual([name, [{ bcrypt: 4096, own: 1 }]])
  expect((await logIn(on, app, { username: 'frodo', password: 'ring-bearer-1' })).status).toBe(200)
  threads.work = undefined
})

test.skipIf(!isFull)('an answer that takes three times as long would show', async () => {
  await openPage(owner, app)
  const page = () => on.call('GET', `/customer/${app.appId}`)
  expect(await compareTimes([() => page().then(page).then(page), page])).toBeGreaterThan(equalTimes.most)
})
