import { beforeAll, beforeEach, expect, test, vi } from 'vitest'

let askForIdentityWith: typeof import('./identity.ts').askForIdentityWith
let module: typeof import('./call.ts')
let ownerSession: typeof import('./session.ts').ownerSession
const expired = vi.fn()

beforeAll(async () => {
  vi.stubGlobal('window', { addEventListener: () => {} })
  module = await import('./call.ts')
  ownerSession = (await import('./session.ts')).ownerSession
  askForIdentityWith = (await import('./identity.ts')).askForIdentityWith
  module.onSessionExpired(expired)
})
beforeEach(() => expired.mockClear())

const refusal = (status: number, code: string, headers = {}) =>
  new Response(JSON.stringify({ success: false, code }), { status, headers })

/** Starts a call with a token; `answer` lets the server refuse it. */
function callWith(token: string) {
  let answer = () => {}
  const answered = new Promise<Response>((resolve) => {
    answer = () => resolve(refusal(401, 'unauthorized'))
  })
  vi.stubGlobal('fetch', () => answered)
  ownerSession.set(token)
  return { answer, ended: module.call({ path: '/apps' } as never).catch((error: unknown) => error) }
}

test('a refused token is removed, and its session ends', async () => {
  const { answer, ended } = callWith('first')
  answer()
  expect(await ended).toMatchObject({ status: 401 })
  expect(ownerSession.get()).toBeNull()
  expect(expired).toHaveBeenCalledTimes(1)
})

test('a late refusal of an old token leaves the session that began meanwhile', async () => {
  const { answer, ended } = callWith('first')
  ownerSession.set('second')
  answer()
  expect(await ended).toMatchObject({ status: 401 })
  expect(ownerSession.get()).toBe('second')
  expect(expired).not.toHaveBeenCalled()
})

test('a wrong code of a second factor leaves the session', async () => {
  vi.stubGlobal('fetch', async () => refusal(401, 'invalid_code'))
  ownerSession.set('first')
  await expect(module.call({ path: '/auth/totp/confirm' } as never)).rejects.toMatchObject({
    code: 'invalid_code',
  })
  expect(ownerSession.get()).toBe('first')
  expect(expired).not.toHaveBeenCalled()
})

test('a call that needs proof of identity asks for it and is repeated once', async () => {
  const answers = [
    refusal(403, 'confirm_identity'),
    new Response('{"success":true,"data":"done"}', { status: 200 }),
  ]
  vi.stubGlobal('fetch', async () => answers.shift())
  const ask = vi.fn(async () => true)
  const stop = askForIdentityWith(ask)
  expect(await module.call({ path: '/members' } as never)).toBe('done')
  expect(ask).toHaveBeenCalledExactlyOnceWith(ownerSession)
  answers.push(refusal(403, 'confirm_identity'), refusal(403, 'confirm_identity'))
  await expect(module.call({ path: '/members' } as never)).rejects.toMatchObject({ status: 403 })
  expect(ask).toHaveBeenCalledTimes(2)
  stop()
})

test('a call is not repeated when the person cancels, and concurrent calls ask once', async () => {
  const fetched = vi.fn(async () => refusal(403, 'confirm_identity'))
  vi.stubGlobal('fetch', fetched)
  let cancel = (_: boolean) => {}
  const ask = vi.fn(() => new Promise<boolean>((resolve) => (cancel = resolve)))
  const stop = askForIdentityWith(ask)
  const both = [1, 2].map(() => module.call({ path: '/members' } as never).catch((error) => error.code))
  await vi.waitFor(() => expect(ask).toHaveBeenCalled())
  cancel(false)
  expect(await Promise.all(both)).toEqual(['confirm_identity', 'confirm_identity'])
  expect(ask).toHaveBeenCalledTimes(1)
  expect(fetched).toHaveBeenCalledTimes(2)
  stop()
})

test('a write without an answer carries the same key again, and a new one after an answer', async () => {
  const write = (body: object) =>
    module.call(
      { method: 'POST', path: '/licenses', hasBody: true } as never,
      {
        body,
      } as never,
    )
  const sent: (string | undefined)[] = []
  const answers: (() => Response)[] = []
  vi.stubGlobal('fetch', async (url: string, { headers }: { headers: Record<string, string> }) => {
    if (url.endsWith('/health')) return new Response(null, { status: 500 })
    sent.push(headers['idempotency-key'])
    return answers.shift()!()
  })
  const lost = () => {
    throw new TypeError('Failed to fetch')
  }
  const done = () => new Response('{"success":true,"data":"done"}', { status: 200 })
  answers.push(
    lost,
    () => refusal(502, 'http_502'),
    done,
    done,
    () => refusal(409, 'license_changed'),
    done,
  )
  for (let at = 0; at < 6; at++) await write({ amount: 1 }).catch(() => {})
  expect(sent[0]).toMatch(/^"[0-9a-f]{32}"$/)
  expect(sent.slice(0, 3)).toEqual(Array(3).fill(sent[0]))
  expect(new Set(sent).size).toBe(4)

  sent.length = 0
  answers.push(lost, lost, done)
  await write({ amount: 1 }).catch(() => {})
  await write({ amount: 2 }).catch(() => {})
  await module.call({ path: '/licenses' } as never)
  expect(sent[0]).not.toBe(sent[1])
  expect(sent[2]).toBeUndefined()
})

test('says when the server asks to call again', async () => {
  vi.stubGlobal('fetch', async () => refusal(429, 'rate_limited', { 'retry-after': '90' }))
  await expect(module.call({ path: '/auth/second-factor' } as never)).rejects.toMatchObject({
    retryAfterSeconds: 90,
  })
})
