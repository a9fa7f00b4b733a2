import { expect, it } from 'vitest'
import { addDuration, endOfLocalDay, toDayInput } from '../../lib/format/dates.ts'
import { lazyMoveDefaults, lazyMoveSchema, urlAfter, withEnd } from './lazy-move-form.ts'

const secret = 'ab'.repeat(32)
const nothing = {
  ...{ url: null, protocol: null, name: null, ownerId: null, secret: null, publicKey: null },
  ...{ until: null, moved: 0, failed: 0, lastFailure: null },
}
const typed = { ...lazyMoveDefaults(nothing, 'Atlas'), ownerId: 'Kw3nD0rId1', secret }
const pathsOf = (values: object, saved: string | null = null) =>
  lazyMoveSchema(saved)
    .safeParse({ ...typed, ...values })
    .error?.issues.map(({ path }) => path.join('.')) ?? []

it('ends at the end of the chosen day here, by default in three months', () => {
  const day = toDayInput(addDuration(Date.now(), 3, 'months'))
  expect(lazyMoveSchema(null).parse(typed)).toEqual({
    ...{ url: 'https://keyauth.win/api/1.2/', protocol: '1.2', name: 'Atlas', ownerId: 'Kw3nD0rId1' },
    ...{ secret, publicKey: null, until: endOfLocalDay(day) },
  })
})

it('keeps the moment of an end that was set in another time zone', () => {
  const saved = addDuration(Date.now(), 10, 'days').toISOString()
  const values = { ...typed, lastDay: toDayInput(saved) }
  expect(lazyMoveSchema(saved).parse(values).until).toBe(saved)
})

it('sends only what the protocol verifies with', () => {
  const values = { ...typed, publicKey: 'CD'.repeat(32) }
  const sent = (protocol: '1.1' | '1.3') => {
    const body = lazyMoveSchema(null).parse({ ...values, protocol })
    return [body.secret, body.publicKey]
  }
  expect(sent('1.1')).toEqual([null, null])
  expect(sent('1.3')).toEqual([null, 'CD'.repeat(32)])
})

it('names the field of each fault, and refuses a day that is over', () => {
  expect(pathsOf({})).toEqual([])
  expect(pathsOf({ ownerId: 'short' })).toEqual(['ownerId'])
  expect(pathsOf({ protocol: '1.0', secret: '' })).toEqual(['secret'])
  expect(pathsOf({ lastDay: '2020-01-01' })).toEqual(['lastDay'])
  expect(pathsOf({ lastDay: '' })).toEqual(['lastDay'])
  expect(pathsOf({ lastDay: '2020-01-01' }, new Date('2020-01-01T12:00:00').toISOString())).toEqual([
    'lastDay',
  ])
})

it('changes the usual address with the protocol, and no other', () => {
  expect(urlAfter('https://keyauth.win/api/1.2/', '1.3')).toBe('https://keyauth.win/api/1.3/')
  expect(urlAfter('https://api.example.com/api/1.2/', '1.3')).toBe('https://api.example.com/api/1.2/')
})

it('ends what was set up, with everything else as it is', () => {
  expect(withEnd(nothing, null)).toBeUndefined()
  const saved = {
    ...nothing,
    url: 'https://a.example/',
    protocol: '1.2' as const,
    name: 'A',
    ownerId: 'Kw3nD0rId1',
  }
  expect(withEnd({ ...saved, secret }, null)).toMatchObject({ secret, until: null, name: 'A' })
})
