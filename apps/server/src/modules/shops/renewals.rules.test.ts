import { expect, test } from 'vitest'
import { drawFrom } from '../../../test/draw.ts'
import { rounds } from '../../../test/rounds.ts'
import { day, lastInstant } from '../../core/clock.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import { accessOf } from '../entitlements/access.rules.ts'
import { endNow, endToMove, pausedFrom, timeOfKey, timeUntil } from '../entitlements/grants.changes.ts'
import { afterChange, type Change, type Holder, ownOf } from '../entitlements/grants.ts'
import { giftOf, paidUntil } from './renewals.rules.ts'

const rights = { devices: 1, seats: null, seat_timeout_seconds: 600, features: '[]' }
const license = {
  ...{ ...rights, id: 'lic_1', type_id: 'own', created_at: 0, started_at: null, grace_days: 0 },
  ...{ term: 'date', duration_value: null, duration_unit: null, expires_at: 30 * day },
  ...{ updates_for_days: 10, updates_until: null },
} as LicenseRow
const client = {
  ...{ id: 'cli_1', expires_at: license.expires_at, grace_days: 0, created_at: 0 },
  ...{ left_ms: null, paused_at: null, added_rights: null },
} as NonNullable<Holder['client']>
const access = accessOf(ownOf({ license, client }), [])
const sold: Holder = { id: license.id, license, client, grants: [], access }

interface Sold {
  order: string
  type: 'own' | 'team'
  days: number
}
const typeOf = ({ type, days }: Sold) =>
  ({
    ...{ ...rights, id: type, features: type === 'team' ? '["team"]' : '[]' },
    ...{ term: days ? 'date' : 'forever', duration_value: days || null, duration_unit: days ? 'days' : null },
    updates_for_days: days % 3 ? 15 : null,
  }) as LicenseTypeRow

type Step = (holder: Holder, now: number) => Change
const person = { source_kind: 'person', source_id: 'usr_1' } as const
const giftTo = (holder: Holder, one: Sold, now: number) =>
  giftOf({ type: typeOf(one), license: holder.license ?? license, holder, now })
const steps = {
  buy: (one) => (holder, now) => {
    const { once } = giftTo(holder, one, now)
    return once ? { added: [{ ...once, source_kind: 'order', source_id: one.order }] } : {}
  },
  subscribe: (one) => (holder, now) => {
    const paid = paidUntil(giftTo(holder, one, now), now + one.days * day)
    return { added: [{ ...paid, source_kind: 'order', source_id: one.order }] }
  },
  refund:
    ({ order }) =>
    ({ grants }, now) => ({
      changed: grants
        .filter(({ source_id }) => source_id === order)
        .map((one) => ({ ...one, withdrawn_at: one.withdrawn_at ?? now })),
    }),
  winBack:
    ({ order }) =>
    ({ grants }) => ({
      changed: grants
        .filter(({ source_id }) => source_id === order)
        .map((one) => ({ ...one, withdrawn_at: null })),
    }),
  addKey: (one) => (holder, now) => {
    const { features, devices } = typeOf(one)
    const key = { ...license, id: one.order, banned: 0 as const, features, devices }
    return { added: [timeOfKey(holder, { ...key, expires_at: now + one.days * day }, now)] }
  },
  pause: () => (holder, now) => pausedFrom(holder, holder.access.paused_at === null, now, person),
  setEnd:
    ({ days }) =>
    (holder, now) => ({ added: [endNow(holder, now + days * day, now, person)] }),
  extend:
    ({ days }) =>
    (holder, now) => {
      const from = Math.max(now, endToMove(holder.access, now) ?? now)
      return { added: [timeUntil(holder, from + days * day, now, person)] }
    },
} satisfies Record<string, (one: Sold) => Step>

/** The ends of access, of the rights of the upgrade, and of updates. */
function endsOf({ access }: Holder, now: number) {
  const end = displayedEnd(access, now) ?? never
  const team = access.rights.flatMap(({ features, until }) =>
    features === '["team"]' ? Math.min(end, until ?? never) : [],
  )
  return [end, Math.max(0, ...team), access.updates.until ?? never] as const
}

test('an order never leaves less than there would be without it, whatever else is bought, refunded, paused and set', () => {
  for (let seed = 0; seed < rounds(1000, 20_000); seed += 1) {
    const draw = drawFrom(seed)
    // What a person or a key adds keeps the gap that it bridged, and may so give more.
    const isExtended = seed % 2 === 0
    const left = isExtended ? ['winBack'] : ['extend', 'addKey']
    const named = Object.entries(steps).filter(([name]) => !left.includes(name))
    let now = draw(60) * day
    let [without, withOrder] = [sold, sold]
    const said: string[] = []
    const bought: string[] = []
    for (let at = 0; at < 8; at += 1) {
      now += draw(3) === 0 ? 0 : draw(60) * day + 1
      const [name, make] = at === 0 ? (named[draw(2)] ?? []) : (named[draw(named.length)] ?? [])
      const isSale = name === 'buy' || name === 'subscribe'
      const type = isExtended || draw(2) === 0 ? 'own' : 'team'
      const isNew = isSale || name === 'addKey'
      const order = isNew ? `order-${at}` : (bought[draw(bought.length)] ?? '')
      if (isSale) bought.push(order)
      const days = isSale && draw(6) === 0 ? 0 : 10 + draw(50)
      const step = make?.({ order, type, days }) ?? (() => ({}))
      said.push(`day ${now / day}: ${name} ${order} ${type} ${days} days`)
      withOrder = afterChange(withOrder, step(withOrder, now), now)
      if (at > 0) without = afterChange(without, step(without, now), now)
      const [less, more] = [endsOf(without, now), endsOf(withOrder, now)]
      // Days begin a millisecond apart.
      for (const [which, end] of less.entries())
        expect(more[which], `${which} ${said.join('\n')}`).toBeGreaterThanOrEqual(end - 10)
    }
  }
})

test('a refund takes back all that its order gave: orders after it do not keep the time that they waited for it', () => {
  for (let seed = 0; seed < rounds(300, 5000); seed += 1) {
    const draw = drawFrom(seed)
    let now = draw(60) * day
    let [without, withOrder] = [sold, sold]
    const said: string[] = []
    for (let at = 0; at < 2 + draw(4); at += 1) {
      now += draw(60) * day + 1
      const name = (['buy', 'subscribe', 'addKey'] as const)[draw(at > 0 ? 3 : 2)] ?? 'buy'
      const make = steps[name]
      const type = draw(2) === 0 ? 'own' : 'team'
      const one: Sold = { order: `order-${at}`, type, days: 10 + draw(50) }
      said.push(`day ${now / day}: ${name} ${one.type} ${one.days} days`)
      withOrder = afterChange(withOrder, make(one)(withOrder, now), now)
      if (at > 0) without = afterChange(without, make(one)(without, now), now)
    }
    const first: Sold = { order: 'order-0', type: 'own', days: 0 }
    withOrder = afterChange(withOrder, steps.refund(first)(withOrder, now), now)
    const [less, more] = [endsOf(without, now), endsOf(withOrder, now)]
    for (const which of [0, 1, 2] as const)
      expect(Math.abs(more[which] - less[which]), said.join('\n')).toBeLessThanOrEqual(10)
  }
})

test('a dispute that is won takes nothing of what is bought and added meanwhile', () => {
  for (let seed = 0; seed < rounds(500, 10_000); seed += 1) {
    const draw = drawFrom(seed)
    let now = draw(60) * day
    let [disputed, paid] = [sold, sold]
    const first: Sold = { order: 'order-0', type: draw(2) === 0 ? 'own' : 'team', days: 10 + draw(50) }
    const said: string[] = []
    const names = ['buy', 'subscribe', 'addKey', 'pause'] as const
    const [disputedAt, last] = [1 + draw(2), 3 + draw(3)]
    for (let at = 0; at <= last; at += 1) {
      now += draw(30) * day + 1
      const isOfDispute = at === disputedAt || at === last
      const name = at === last ? 'winBack' : isOfDispute ? 'refund' : (names[draw(at > 0 ? 4 : 2)] ?? 'buy')
      const type = draw(2) === 0 ? 'own' : 'team'
      const one: Sold = isOfDispute || at === 0 ? first : { order: `order-${at}`, type, days: 10 + draw(50) }
      said.push(`day ${now / day}: ${name} ${one.order} ${one.type} ${one.days} days`)
      disputed = afterChange(disputed, steps[name](one)(disputed, now), now)
      if (!isOfDispute) paid = afterChange(paid, steps[name](one)(paid, now), now)
    }
    const [less, more] = [endsOf(paid, now), endsOf(disputed, now)]
    for (const which of [0, 1, 2] as const)
      expect(more[which], said.join('\n')).toBeGreaterThanOrEqual(Math.min(less[which], lastInstant) - 10)
  }
})

test('upgrades give their whole time one after the other, whatever is paused, refunded and disputed', () => {
  for (let seed = 0; seed < rounds(1000, 20_000); seed += 1) {
    const draw = drawFrom(seed)
    let now = draw(60) * day
    let holder = sold
    const said: string[] = []
    const lost = new Set<string>()
    const happened: { order: string; at: number; ms: number }[] = []
    const pause = 'pause'
    /** The time left of what stands: it runs while there is no pause. */
    const timeLeft = () => {
      let [left, before, isPaused] = [0, 0, false]
      for (const { order, at, ms } of [...happened, { order: '', at: now, ms: 0 }]) {
        if (!isPaused) left = Math.max(0, left - (at - before))
        if (order === pause) isPaused = !isPaused
        if (!lost.has(order)) left += ms
        before = at
      }
      return left
    }
    for (let at = 0; at < 8; at += 1) {
      now += draw(30) * day + 1
      const name = (['buy', 'buy', 'refund', 'winBack', 'pause'] as const)[draw(5)] ?? 'buy'
      const bought = happened.filter(({ order }) => order !== pause)
      const order = name === 'buy' ? `order-${at}` : (bought[draw(bought.length)]?.order ?? '')
      const days = 10 + draw(50)
      said.push(`day ${now / day}: ${name} ${order} ${days} days`)
      holder = afterChange(holder, steps[name]({ order, type: 'team', days })(holder, now), now)
      if (name === 'refund') lost.add(order)
      else if (name === 'winBack') lost.delete(order)
      else
        happened.push({ order: name === 'buy' ? order : pause, at: now, ms: name === 'buy' ? days * day : 0 })
      const { rights, paused_at } = holder.access
      const left = Math.max(0, ...rights.map(({ until }) => (until ?? 0) - (paused_at ?? now)))
      expect(left, said.join('\n')).toBe(timeLeft())
    }
  }
})
