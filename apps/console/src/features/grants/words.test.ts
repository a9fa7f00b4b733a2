import type { Grant } from '@keyward/contract'
import { expect, test } from 'vitest'
import { grantWords } from './words.ts'

const day = 86_400_000
const ada = { kind: 'person', _id: 'acc_1', name: 'Ada' } as const
const gone = { kind: 'person', _id: 'acc_2', name: null } as const
const order = { kind: 'order', _id: 'ord_1', name: 'A-7' } as const
const key = { kind: 'key', _id: 'lic_1', name: 'ABCDE-FGHIJ' } as const
const deleted = { kind: 'key', _id: 'lic_2', name: null } as const
const own = { kind: 'key', _id: null, name: null } as const
const program = { kind: 'program', _id: null, name: null } as const
const moved = { kind: 'import', _id: null, name: null } as const

const march = '2027-03-01T12:00:00.000Z'
const april = '2027-04-01T12:00:00.000Z'

const granted = (grant: Partial<Grant>): Grant => ({
  ...{ _id: 'gra_1', kind: 'term', amount: null, from: '2027-01-01T12:00:00.000Z', until: null },
  ...{ source: key, withdrawnAt: null },
  ...grant,
})

const never = { _id: 'lic_1', expiresAt: null }
const textsOf = (...grants: Partial<Grant>[]) =>
  grantWords({ ...never, grants: grants.map(granted) }).map(({ text, source, notes }) =>
    [text.replace('{source}', source.name ?? '?'), ...notes].join(' | '),
  )
const first = granted({ until: march })

test.each<[text: string, grant: Partial<Grant>]>([
  ['Key ABCDE-FGHIJ was generated, valid until Mar 01, 2027', { until: march }],
  ['Key ABCDE-FGHIJ was generated, never expires', {}],
  ['Bought in order A-7, valid until Mar 01, 2027', { source: order, until: march }],
  ['Created, valid until Mar 01, 2027', { source: own, until: march }],
])('the first grant says “%s”', (text, grant) => {
  expect(textsOf(grant)).toEqual([text])
})

test.each<[text: string, grant: Partial<Grant>]>([
  ['Extended by 3 days by Ada', { kind: 'time', amount: 3 * day, source: ada }],
  ['Extended by 1 day', { kind: 'time', amount: day, source: gone }],
  ['Extended by 36 hours by Ada', { kind: 'time', amount: 1.5 * day, source: ada }],
  ['Extended by 20 minutes by Ada', { kind: 'time', amount: 1_200_000, source: ada }],
  ['Renewed by order A-7 by 30 days', { kind: 'time', amount: 30 * day, source: order }],
  ['Updates renewed by order A-7', { kind: 'time', amount: 0, source: order }],
  [
    'Renewed by order A-7 until Apr 01, 2027, beside all other time',
    { kind: 'period', until: april, source: order },
  ],
  [
    'Extended to Apr 01, 2027 by Ada, unless an order gives more',
    { kind: 'period', until: april, source: ada },
  ],
  ['Renewed by order A-7 without an end, beside all other time', { kind: 'period', source: order }],
  ['Kept 4 days from before', { kind: 'time', amount: 4 * day, source: program }],
  ['Key ABCDE-FGHIJ added 10 days', { kind: 'time', amount: 10 * day - 5, source: key }],
  [
    'Key ABCDE-FGHIJ added 10 days | What it allows holds until Apr 01, 2027.',
    { kind: 'time', amount: 10 * day, source: key, until: april },
  ],
  ['Key ABCDE-FGHIJ added time without end', { kind: 'time', source: key }],
  ['Key ABCDE-FGHIJ was added', { kind: 'time', amount: 0, source: key }],
  [
    'A deleted key added 10 days | Taken back on Apr 01, 2027.',
    { kind: 'time', amount: 10 * day, source: deleted, until: march, withdrawnAt: april },
  ],
  [
    'Extended by 3 days by Ada | Taken back on Apr 01, 2027.',
    { kind: 'time', amount: 3 * day, source: ada, withdrawnAt: april },
  ],
  ['Paused since Mar 01, 2027 by Ada', { kind: 'pause', from: march, source: ada }],
  [
    'Paused from Mar 01, 2027 to Apr 01, 2027 by Ada',
    { kind: 'pause', from: march, until: april, source: ada },
  ],
  [
    'Paused on Mar 01, 2027 for 5 hours',
    { kind: 'pause', from: march, until: '2027-03-01T17:00:00.000Z', source: gone },
  ],
  [
    'End set to Apr 01, 2027 by Ada | Replaces all time that was granted before.',
    { kind: 'end', until: april, source: ada },
  ],
  ['Set to never expire by Ada | Replaces all time that was granted before.', { kind: 'end', source: ada }],
  [
    'Renewed by order A-7 until Apr 01, 2027 | Replaces all time that was granted before.',
    { kind: 'end', until: april, source: order },
  ],
  [
    'End set to Jan 01, 2027 by order A-7 | Replaces all time that was granted before.',
    { kind: 'end', until: first.from, source: order },
  ],
  ['Order A-7 removed the end | Replaces all time that was granted before.', { kind: 'end', source: order }],
  [
    'Moved here, valid until Apr 01, 2027 | Replaces all time that was granted before.',
    { kind: 'end', until: april, source: moved },
  ],
  [
    'Access ended because the license was deleted | Replaces all time that was granted before.',
    { kind: 'end', until: march, source: own },
  ],
  [
    'Type changed by Ada, valid until Apr 01, 2027 | Replaces all time that was granted before, but that of added keys.',
    { until: april, source: ada },
  ],
  [
    'Order A-7 changed the type, never expires | Replaces all time that was granted before, but that of added keys.',
    { source: order },
  ],
  [
    'Key ABCDE-FGHIJ became the license, valid until Apr 01, 2027 | Replaces all time that was granted before, but that of added keys.',
    { until: april },
  ],
])('a later grant says “%s”', (text, grant) => {
  expect(textsOf(grant, first)[0]).toBe(text)
})

test('a license whose clock has not started says how long it lasts, until another end replaces that', () => {
  const waiting = { ...never, term: 'first_use', duration: { value: 30, unit: 'days' } } as const
  const [words] = grantWords({ ...waiting, grants: [granted({})] })
  expect(words?.text).toBe('Key {source} was generated, valid 30 days from first use')
  expect(textsOf({ kind: 'end', until: march, source: ada }, {}).at(-1)).toBe('Key ABCDE-FGHIJ was generated')
  // One that was taken back has replaced nothing.
  expect(textsOf({ kind: 'end', until: march, source: ada, withdrawnAt: april }, {}).at(-1)).toBe(
    'Key ABCDE-FGHIJ was generated, never expires',
  )
})
