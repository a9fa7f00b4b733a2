import { beforeAll, expect, test, vi } from 'vitest'

let defaults: ReturnType<typeof import('./query-client.ts').queryClient.getDefaultOptions>
let options: NonNullable<typeof defaults.queries>
let ApiError: typeof import('./call.ts').ApiError

beforeAll(async () => {
  vi.stubGlobal('window', { addEventListener: () => {} })
  defaults = (await import('./query-client.ts')).queryClient.getDefaultOptions()
  options = defaults.queries!
  ApiError = (await import('./call.ts')).ApiError
})

test('data is fresh for 30 seconds and kept for 5 minutes', () => {
  expect(options).toMatchObject({ staleTime: 30_000, gcTime: 300_000 })
})

test('nothing waits for the network to run later', () => {
  expect(options.networkMode).toBe('always')
  expect(defaults.mutations).toMatchObject({ networkMode: 'always', retry: false })
})

test('retries three times, after 1 second doubling up to 30', () => {
  const wait = options.retryDelay as (attempt: number, error: Error) => number
  expect([0, 1, 2, 4, 5, 9].map((attempt) => wait(attempt, new Error()))).toEqual([
    1000, 2000, 4000, 16_000, 30_000, 30_000,
  ])
})

test.each([
  [0, true],
  [500, true],
  [503, true],
  [400, false],
  [401, false],
  [404, false],
  [429, false],
])('after status %i it retries: %s', (status, again) => {
  const retry = options.retry as (failures: number, error: Error) => boolean
  const error = new ApiError('', { status, code: '' })
  expect(retry(0, error)).toBe(again)
  expect(retry(2, error)).toBe(again)
  expect(retry(3, error)).toBe(false)
})
