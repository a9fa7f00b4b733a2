import { beforeAll, beforeEach, expect, test, vi } from 'vitest'

let module: typeof import('./call.ts')
let ownerSession: typeof import('./session.ts').ownerSession
const expired = vi.fn()

beforeAll(async () => {
  vi.stubGlobal('window', { addEventListener: () => {} })
  module = await import('./call.ts')
  ownerSession = (await import('./session.ts')).ownerSession
  module.onSessionExpired(expired)
})
beforeEach(() => expired.mockClear())

/** Starts a call with a token; `answer` lets the server refuse it. */
function callWith(token: string) {
  let answer = () => {}
  const answered = new Promise<Response>((resolve) => {
    answer = () => resolve(new Response('{}', { status: 401 }))
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
