import { afterEach, expect, test, vi } from 'vitest'
import { noteServerTime, serverNow } from './server-time.ts'

const noted = (date: string | undefined) =>
  noteServerTime({ headers: new Headers(date === undefined ? {} : { date }) })

afterEach(() => vi.useRealTimers())

test.each(['2030-01-01T12:00:00Z', '2020-01-01T12:00:00Z'])(
  'follows the server if the clock says %s',
  (wrong) => {
    vi.useFakeTimers({ now: Date.parse(wrong) })
    noted('Wed, 01 May 2024 10:00:00 GMT')
    expect(serverNow()).toBe(Date.parse('2024-05-01T10:00:00Z'))
    vi.advanceTimersByTime(5000)
    expect(serverNow()).toBe(Date.parse('2024-05-01T10:00:05Z'))
  },
)

test('follows the clock again once it was set', () => {
  vi.useFakeTimers({ now: 0 })
  noted('Wed, 01 May 2024 10:00:00 GMT')
  vi.setSystemTime(Date.parse('2024-05-01T10:00:01.234Z'))
  noted('Wed, 01 May 2024 10:00:00 GMT')
  expect(serverNow()).toBe(Date.parse('2024-05-01T10:00:01.234Z'))
})

test.each([undefined, 'rubbish'])('follows the clock if the date of a response is %s', (date) => {
  vi.useFakeTimers({ now: 5 })
  noted(date)
  expect(serverNow()).toBe(5)
})
