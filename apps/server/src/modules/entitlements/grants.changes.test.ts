import { expect, test } from 'vitest'
import { day } from '../../core/clock.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { accessOf } from './access.rules.ts'
import { atLeast, endNow, pausedFrom, returned, timeOfKey, timeUntil, withoutKeys } from './grants.changes.ts'
import { afterChange, type Change, type Holder, ownOf } from './grants.ts'

const person = { source_kind: 'person', source_id: 'usr_1' } as const
const licenseOf = (id: string, days: number | null): LicenseRow => ({
  ...{
    id,
    owner_id: 'own_1',
    app_id: 'app_1',
    reseller_id: null,
    client_id: null,
    customer_id: null,
    seq: 1,
  },
  ...{
    key: id,
    key_normalized: id,
    key_twin: 0,
    note: null,
    used: 1,
    used_at: 0,
    banned: 0,
    ban_reason: null,
  },
  ...{ expires_at: days === null ? never : days * day, grace_days: 0, started_at: null, type_id: null },
  ...{ term: days === null ? 'forever' : 'date', duration_value: null, duration_unit: null, test: 0 },
  ...{ devices: 1, seats: null, seat_timeout_seconds: 600, features: '[]', updates_for_days: null, trial: 0 },
  updates_until: null,
  created_at: 0,
})

type Step = (holder: Holder, now: number) => Change
const key =
  (name: string, days: number | null): Step =>
  (holder, now) => ({
    added: [timeOfKey(holder, licenseOf(name, days === null ? null : now / day + days), now)],
  })
const ban =
  (...names: string[]): Step =>
  (holder, now) =>
    withoutKeys(holder, new Set(names), now)
const lift =
  (...names: string[]): Step =>
  ({ grants }) => ({
    changed: grants.filter(({ source_id }) => names.includes(source_id ?? '')).map(returned),
  })
const extend =
  (days: number): Step =>
  (holder, now) => {
    const from = Math.max(now, displayedEnd(holder.access, now) ?? now)
    return { added: [timeUntil(holder, from + days * day, now, person)] }
  }
const set =
  (days: number | null): Step =>
  (holder, now) => ({ added: [endNow(holder, days === null ? null : now + days * day, now, person)] })
const least =
  (days: number | null): Step =>
  (holder, now) => {
    const grant = atLeast(holder, days === null ? null : now + days * day, now)
    return { added: grant ? [{ ...grant, ...person }] : [] }
  }
const renew =
  (days: number): Step =>
  (holder, now) => {
    const order = { source_kind: 'order', source_id: 'sor_1' } as const
    const { added = [] } = extend(days)(holder, now)
    return { added: added.map((grant) => ({ ...grant, ...order })) }
  }
const refund =
  (): Step =>
  ({ grants }, now) => ({
    changed: grants
      .filter(({ source_kind }) => source_kind === 'order')
      .map((grant) => ({ ...grant, withdrawn_at: now })),
  })
const pause =
  (isPaused: boolean): Step =>
  (holder, now) =>
    pausedFrom(holder, isPaused, now, person)

/** The days left of a license of 30 days after steps; a number passes so many days. Null is never. */
function walk(steps: readonly (Step | number)[]): number | null {
  const rows = { license: licenseOf('lic_1', 30), client: null }
  let holder: Holder = { id: 'lic_1', ...rows, grants: [], access: accessOf(ownOf(rows), []) }
  let now = 0
  for (const step of steps) {
    if (typeof step === 'number') now += step * day
    else holder = afterChange(holder, step(holder, now), now)
  }
  const end = displayedEnd(holder.access, now)
  return end === null ? null : (end - now) / day
}

test.each<[what: string, left: number | null, ...steps: (Step | number)[]]>([
  ['an added key adds its time', 40, key('a', 10)],
  ['one that is taken back takes that time', 35, key('a', 10), key('b', 5), ban('a')],
  ['two at once take both', 30, key('a', 10), key('b', 5), ban('a', 'b')],
  ['one takes no more than what is left', 0, key('a', 10), 36, ban('a')],
  ['what is given after that counts from then', 7, key('a', 10), 36, ban('a'), extend(7)],
  ['after the end, a key counts from now', 0, 40, key('a', 10), ban('a')],
  ['days of the owner stay', 37, key('a', 10), extend(7), ban('a')],
  ['a date of the owner, set afterwards, stays', 20, key('a', 10), set(20), ban('a')],
  ['never by the owner stays', null, key('a', 10), set(null), ban('a')],
  ['a lifted ban gives the time back', 40, key('a', 10), ban('a'), lift('a')],
  ['but only what it took, also after the end', 3, key('a', 10), 36, ban('a'), 1, lift('a')],
  ['a key without end hides the end', null, key('a', 30), key('b', null)],
  ['which comes back without it', 60, key('a', 30), key('b', null), ban('b')],
  ['and is hidden again once its ban is lifted', null, key('b', null), ban('b'), lift('b')],
  ['a dated key that went before leaves nothing', 30, key('a', 30), key('b', null), ban('a'), ban('b')],
  [
    'one whose ban was lifted meanwhile counts',
    60,
    key('a', 30),
    ban('a'),
    key('b', null),
    lift('a'),
    ban('b'),
  ],
  ['of two without end one is enough', null, key('a', null), ban('a'), key('b', null), lift('a'), ban('b')],
  [
    'both are needed to come back',
    30,
    key('a', null),
    ban('a'),
    key('b', null),
    lift('a'),
    ban('b'),
    ban('a'),
  ],
  [
    'both at once come back too',
    30,
    key('a', null),
    key('b', null),
    ban('a', 'b'),
    lift('a', 'b'),
    ban('a', 'b'),
  ],
  ['the time of a key without end is not taken', 0, 25, key('a', null), 10, ban('a')],
  ['a pause keeps what is left', 20, 10, pause(true), 15],
  ['and goes on after it', 18, 10, pause(true), 15, pause(false), 2],
  ['an end that an order hides changes nothing', 120, renew(90), least(70)],
  ['and counts once the order is refunded', 70, renew(90), least(70), refund()],
  ['with what was added after it', 80, renew(90), least(70), extend(10), refund()],
  ['an end that is earlier than the own one does not', 30, renew(90), least(20), refund()],
  ['without an order there is none', 30, least(20)],
  ['a pause holds what it gives', 60, renew(90), least(70), 10, pause(true), 15, refund()],
  ['what a key gave before a pause is taken whole', 20, key('a', 10), 10, pause(true), 50, ban('a')],
])('%s', (_what, left, ...steps) => {
  expect(walk(steps)).toBe(left)
})
