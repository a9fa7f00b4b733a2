// On SQLite alone: what it asserts is decided before any SQL.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { hashesAtOnce } from '../../src/core/passwords/hash-threads.ts'
import { allEndpoints } from '../../src/http/openapi.ts'
import { makeApp, makeLicenses, makePremium, type Owner, refusal, signUp, startProgram } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { type Answer, startServer, type TestServer } from '../harness.ts'
import { mailedLinks } from '../mailed.ts'
import { QuickPasswords } from '../quick-passwords.ts'
import { makeReseller } from '../reseller-actor.ts'
import { SmtpSink } from '../smtp-sink.ts'
import { statementsOf } from '../statements.ts'

/** Holds all hashes until released, and keeps the order in which they begin. */
class HeldPasswords extends QuickPasswords {
  entered = 0
  begun: string[] = []
  #held = Promise.resolve()
  #release = () => {}

  hold(): void {
    this.entered = 0
    this.begun = []
    this.#held = new Promise((resolve) => {
      this.#release = resolve
    })
  }

  release = (): void => this.#release()

  override enter(...args: Parameters<QuickPasswords['enter']>) {
    this.entered += 1
    return super.enter(...args)
  }

  override async verify(...args: Parameters<QuickPasswords['verify']>): Promise<boolean> {
    this.begun.push(args[1])
    await this.#held
    return super.verify(...args)
  }
}

const passwords = new HeldPasswords()
let sink: SmtpSink
let on: TestServer
let owner: Owner
let app: Awaited<ReturnType<typeof makeApp>>
beforeAll(async () => {
  sink = await SmtpSink.start()
  on = await startServer(
    {
      RATE_LIMITS: 'on',
      PAYMENTS: 'off',
      SMTP_URL: `smtp://${sink.host}`,
      PUBLIC_URL: 'http://127.0.0.1:4000',
    },
    { passwords },
  )
  owner = await signUp(on)
  await makePremium(on, owner)
  app = await makeApp(owner)
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})

let guesses = 0
const guess = (from: string) => {
  guesses += 1
  const body = { email: `stranger${guesses}@example.com`, password: 'flood' }
  return on.call('POST', '/auth/login', { body, from })
}

const flood = { connections: 400, waiting: 128, running: hashesAtOnce + 1 }

/** Starts honest calls while a flood fills the queue. */
async function during(addressOf: (at: number) => string, honest: (() => Promise<Answer>)[]) {
  passwords.hold()
  try {
    const guessed = Array.from({ length: flood.connections }, (_, at) => guess(addressOf(at)))
    await untilEntered(flood.connections)
    const answered = honest.map((call) => call())
    await untilEntered(flood.connections + honest.length)
    passwords.release()
    return { answers: await Promise.all(answered), refused: (await Promise.all(guessed)).map(refusal) }
  } finally {
    passwords.release()
  }
}

const untilEntered = (count: number) => eventually(() => expect(passwords.entered).toBe(count))

const signIn =
  ({ email, password }: Pick<Owner, 'email' | 'password'>, from: string) =>
  () =>
    on.call('POST', '/auth/login', { body: { email, password }, from })

const inOneNetwork = (at: number) => `2001:db8:0:${(at % 256).toString(16)}::${at}`
const inManyNetworks = (at: number) => `10.${at % 200}.${at >> 4}.1`

test('400 connections from 256 /64 networks of one /56 keep none of 26 owners from signing in', async () => {
  const owners = await Promise.all(Array.from({ length: 26 }, () => signUp(on)))
  const calls = owners.map((one, at) => signIn(one, `198.51.${at}.7`))
  const { answers, refused } = await during(inOneNetwork, calls)
  expect(answers.map(({ status }) => status)).toEqual(owners.map(() => 200))
  const last = passwords.begun.lastIndexOf(owner.password)
  expect(passwords.begun.slice(0, last).filter((password) => password === 'flood').length).toBeLessThan(26)
  const served = flood.running + flood.waiting - owners.length
  expect(refused.filter((code) => code === 'invalid_credentials')).toHaveLength(served)
  expect(refused.filter((code) => code === 'busy')).toHaveLength(flood.connections - served)
})

test('a flood from 400 networks keeps no owner out who signed in from the same address before', async () => {
  const owners = await Promise.all(Array.from({ length: 26 }, () => signUp(on)))
  const calls = owners.map((one, at) => signIn(one, `198.51.${at}.9`))
  for (const call of calls) expect((await call()).status).toBe(200)
  const { answers } = await during(inManyNetworks, calls)
  expect(answers.map(({ status }) => status)).toEqual(owners.map(() => 200))
})

describe('while the queue is full', () => {
  /** Fills the queue from one /56 and keeps it full for the work. */
  async function whileFull(work: () => Promise<void>): Promise<void> {
    passwords.hold()
    const guessed = Array.from({ length: flood.running + flood.waiting }, (_, at) => guess(inOneNetwork(at)))
    try {
      await untilEntered(guessed.length)
      await work()
    } finally {
      passwords.release()
      await Promise.all(guessed)
    }
  }
  const hashing = allEndpoints
    .map(({ endpoint }) => endpoint)
    .filter(({ access, body }) => {
      const takesPassword = body instanceof z.ZodObject && 'password' in body.shape
      return takesPassword && ['public', 'program', 'session'].includes(access)
    })

  test('refuses further calls of its largest network without a read of the database and without a hash', async () => {
    expect(hashing.length).toBeGreaterThan(6)
    await whileFull(async () => {
      const { entered } = passwords
      const answers: Answer[] = []
      const sent = await statementsOf(on.database, async () => {
        for (const [at, { method, path }] of hashing.entries())
          answers.push(await on.call(method, path, { from: inOneNetwork(at), body: { broken: true } }))
      })
      expect(sent).toEqual([])
      expect(answers.map((answer) => `${answer.status} ${refusal(answer)}`)).toEqual(
        hashing.map(() => '429 busy'),
      )
      expect(passwords.entered).toBe(entered)
    })
  })

  test('still admits an owner in the network of the flood who signed in from there before', async () => {
    const call = signIn(await signUp(on), inOneNetwork(7))
    expect((await call()).status).toBe(200)
    let answer: Promise<Answer> | undefined
    await whileFull(async () => {
      answer = call()
      await untilEntered(flood.running + flood.waiting + 1)
    })
    expect((await answer)?.status).toBe(200)
  })
})

describe('a flood from one /56 does not keep from its work', () => {
  const kinds: Record<string, () => Promise<(from: string) => Promise<Answer>>> = {
    'an owner who registers': async () => (from) => {
      const body = { name: 'New', email: 'new@example.com', password: 'correct horse' }
      return on.call('POST', '/auth/register', { body, from })
    },
    'a reseller who signs in': async () => {
      const { email, password } = await makeReseller(on, owner, app)
      return (from) => on.call('POST', '/resellers/auth/login', { body: { email, password }, from })
    },
    'an end user who registers': async () => {
      const program = await startProgram(on, app)
      const [license] = await makeLicenses(on, owner, app)
      const body = { username: 'anna', password: 'swordfish', licenseKey: license?.key }
      return (from) => program.call('POST', '/register', body, { from })
    },
    'an end user who signs in': async () => {
      const program = await startProgram(on, app)
      const user = { username: 'ben', password: 'swordfish' }
      await owner.call('POST', '/clients/create-direct', {
        ...user,
        appId: app.appId,
        expiresAt: on.clock.inDays(3),
      })
      return (from) => program.call('POST', '/login', user, { from })
    },
    'an owner who sets a new password by a link': async () => {
      const { email } = await signUp(on)
      await on.call('POST', '/auth/forgot-password', { body: { email } })
      await eventually(() => expect(mailedLinks(sink, email)).toHaveLength(1))
      const [, token] = mailedLinks(sink, email)[0]?.split('#') ?? []
      const body = { token, password: 'another horse' }
      return (from) => on.call('POST', '/auth/reset-password', { body, from })
    },
    'an owner who creates a reseller': async () => {
      const body = {
        email: 'r@example.com',
        password: 'sell them all',
        app_id: app._id,
        allowed_license_keys: 1,
      }
      return () => owner.call('POST', '/resellers', body)
    },
  }

  test.each(Object.entries(kinds))('%s', async (_who, make) => {
    const call = await make()
    const { answers } = await during(inOneNetwork, [() => call('198.51.100.99')])
    expect([200, 201]).toContain(answers[0]?.status)
  })
})
