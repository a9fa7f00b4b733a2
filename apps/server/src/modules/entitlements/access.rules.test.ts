import { expect, test } from 'vitest'
import { drawFrom } from '../../../test/draw.ts'
import { rounds } from '../../../test/rounds.ts'
import { day } from '../../core/clock.ts'
import { held, never } from '../../db/stored-end.ts'
import { type Access, accessOf, type Grant, joined, type Own } from './access.rules.ts'

const start = 1_000 * day
const at = (days: number) => start + days * day

let count = 0
const grant = (days: number, more: Partial<Grant>): Grant => ({
  ...{
    id: `gra_${count++}`,
    kind: 'time',
    at: at(days),
    until: null,
    moved_ms: null,
    gap_ms: 0,
    kept_ms: null,
  },
  ...{
    rights_until: null,
    terms: null,
    source_kind: 'person',
    source_id: null,
    withdrawn_at: null,
    key: null,
    updates_ms: null,
    updates_until: null,
  },
  ...more,
})
const term = (days: number | null, on = 0) =>
  grant(on, { kind: 'term', until: days === null ? null : at(days), terms: JSON.stringify(dated) })
const set = (on: number, days: number | null) =>
  grant(on, { kind: 'end', until: days === null ? null : at(days) })
const time = (on: number, days: number, more: Partial<Grant> = {}) =>
  grant(on, { moved_ms: days * day, ...more })
const key = (on: number, days: number | null, more: Partial<Grant> = {}) =>
  grant(on, {
    ...{ source_kind: 'key', source_id: 'lic_2' },
    moved_ms: days === null ? null : days * day,
    ...more,
  })
const renewed = (on: number, days: number) => time(on, days, { source_kind: 'order', source_id: 'sor_1' })
const atLeast = (on: number, days: number) => grant(on, { kind: 'period', until: at(days) })
const pause = (from: number, to: number | null) =>
  grant(from, { kind: 'pause', until: to === null ? null : at(to) })
const withdrawn = (one: Grant, on: number, keptDays: number | null = null): Grant => ({
  ...one,
  ...{ withdrawn_at: at(on), kept_ms: keptDays === null ? null : keptDays * day },
})

const dated = { term: 'date', duration_value: null, duration_unit: null } as const
const own: Own = { end: at(30), terms: dated, startedAt: null, graceDays: 0, updates: null }
const displayedEnd = (grants: readonly Grant[], of = own) => {
  const { end: own, isEndless, periods } = accessOf(of, grants)
  const end = Math.max(own, ...periods.map(({ until }) => until))
  return isEndless ? 'endless' : end === never ? null : (end - start) / day
}

test.each<[what: string, end: number | null | 'endless', grants: Grant[]]>([
  ['what the license has, before its first change', 30, []],
  ['its own end', 10, [term(10)]],
  ['its own end and added time', 17, [term(10), time(1, 7)]],
  ['time that began after the end had passed', 20, [term(10), time(13, 7, { gap_ms: 3 * day })]],
  ['a date of the owner, which replaces all before it', 25, [term(10), time(1, 7), key(2, 9), set(3, 25)]],
  ['time that was added after a date', 29, [term(10), set(3, 25), time(4, 4)]],
  ['never by the owner', null, [term(10), set(3, null)]],
  ['never by an added key', 'endless', [term(10), key(2, null)]],
  ['a date after a key that never ends', 25, [term(10), key(2, null), set(3, 25)]],
  ['a new term, which keeps what added keys gave', 49, [term(10), time(1, 7), key(2, 9), term(40, 3)]],
  ['a new term, without keys before a date', 40, [term(10), key(2, 9), set(3, 25), term(40, 4)]],
  ['all but what was taken back', 17, [term(10), time(1, 7), withdrawn(time(2, 3), 4)]],
  ['the time that an added key gave before it was banned', 13, [term(10), withdrawn(key(2, 9), 8, 3)]],
  ['the end before a key that never ends was banned', 10, [term(10), withdrawn(key(2, null), 4, 0)]],
  ['the time of a ban of a key that never ended', 14, [term(10), withdrawn(key(2, null), 14, 4)]],
  ['the time that a pause held', 15, [term(10), pause(2, 7)]],
  ['nothing of a pause after the end', 10, [term(10), pause(12, 17)]],
  ['a pause until its end, and time that was added in it', 18, [term(10), pause(2, 7), time(4, 3)]],
  [
    'time that was added in a pause, which holds it from then on',
    20,
    [term(10), pause(12, 17), time(14, 3, { gap_ms: 4 * day })],
  ],
  ['what an order gave, while a person gave less', 120, [term(30), renewed(1, 90), atLeast(2, 70)]],
  ['at least what a person gave', 70, [term(30), withdrawn(renewed(1, 90), 3), atLeast(2, 70)]],
  ['a date after that', 40, [term(30), withdrawn(renewed(1, 90), 3), atLeast(2, 70), set(4, 40)]],
  [
    'time that was added after what a person gave',
    80,
    [term(30), withdrawn(renewed(1, 90), 4), atLeast(2, 70), time(3, 10, { until: at(70) })],
  ],
  ['that and the time of a pause', 75, [term(30), withdrawn(renewed(1, 90), 2), atLeast(2, 70), pause(3, 8)]],
])('the end is %s', (_what, end, grants) => {
  expect(displayedEnd(grants)).toBe(end)
})

test('pauses that begin when others end, or end at once, count once', () => {
  const paused = [term(10), pause(2, 4), pause(4, 4), pause(4, 7), pause(7, null)]
  expect(accessOf(own, paused)).toMatchObject({ end: at(15), paused_at: at(7), left_ms: 8 * day })
})

test('an end comes back with its term when what replaced it is taken back', () => {
  const before = accessOf(own, [term(10), time(1, 7)])
  for (const end of [25, null, -3]) {
    const after = accessOf(own, [term(10), time(1, 7), withdrawn(set(3, end), 4)])
    expect({ ...after, rights: [] }).toEqual(before)
  }
})

test('a term that waits for its first use ends by the clock of the license', () => {
  const terms = { term: 'first_use', duration_value: 3, duration_unit: 'days' } as const
  const waiting = grant(0, { kind: 'term', terms: JSON.stringify(terms) })
  expect(displayedEnd([waiting])).toBe(null)
  expect(displayedEnd([waiting], { ...own, startedAt: at(5) })).toBe(8)
  expect(accessOf(own, [waiting, set(1, 9)]).terms).toEqual(dated)
  expect(accessOf({ ...own, startedAt: at(5) }, [waiting, set(6, 9)]).terms).toEqual(terms)
})

test('grace days go on while a pause holds the rest', () => {
  const of = { ...own, graceDays: 3 }
  const paused = { expires_at: held, left_ms: day, paused_at: at(12), grace_days: 3 }
  expect(accessOf(of, [term(10), pause(12, null)])).toMatchObject(paused)
  expect(accessOf(of, [term(10), pause(13, null)]).left_ms).toBeNull()
})

test('the rights of a key move with extensions and pauses of its end user, not with a date', () => {
  const allowed = { devices: 1, seats: null, seat_timeout_seconds: 600, features: '["cloud"]' }
  const cloud = key(1, 5, { rights_until: at(6), key: { ...allowed, grace_days: 0, banned: 0 } })
  const untilOf = (...more: Grant[]) =>
    accessOf(own, [term(30), cloud, ...more]).rights.map(({ until }) => until && (until - start) / day)
  expect(untilOf()).toEqual([6])
  expect(untilOf(time(2, 7))).toEqual([13])
  expect(untilOf(time(6, 7))).toEqual([6])
  expect(untilOf(time(2, -3, { source_kind: 'program' }))).toEqual([6])
  const year = grant(1, { kind: 'period', until: at(365), source_kind: 'order' })
  expect(untilOf(year, withdrawn(time(2, 7), 3))).toEqual([6])
  expect(untilOf(year, time(2, 7))).toEqual([13])
  // What it was given beside may be lost or paid again: it moves rights by its own time.
  const beside = time(2, 7, { gap_ms: 335 * day, until: at(365) })
  for (const changed of [withdrawn(year, 3), { ...year, at: at(3), until: at(395) }])
    expect(untilOf(changed, beside)).toEqual([13])
  // An end that was set earlier than the rights end moves further than they do, with and without a subscription.
  for (const others of [[time(5, 7, { gap_ms: 2 * day })], [withdrawn(year, 6), { ...beside, at: at(5) }]])
    expect(untilOf(set(2, 3), ...others)).toEqual([13])
  expect(untilOf(pause(3, 10))).toEqual([13])
  expect(untilOf(set(3, 90))).toEqual([6])
  expect(accessOf(own, [term(30), withdrawn(cloud, 2, 0)]).rights).toEqual([])
})

test('independent grants fold to the same in any order, and one that is taken back as if it had never been', () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const draw = drawFrom(seed)
    const grants = Array.from({ length: 2 + draw(5) }, () => {
      const one = draw(2) === 0 ? time : key
      return one(1 + draw(9), draw(20), { gap_ms: draw(3) === 0 ? draw(5) * day : 0 })
    })
    const shuffled = grants.toSorted(() => draw(2) - 0.5)
    expect(displayedEnd([term(10), ...shuffled])).toBe(displayedEnd([term(10), ...grants]))
    const left = grants.toSpliced(draw(grants.length), 1)
    const gone = grants.map((one) => (left.includes(one) ? one : withdrawn(one, 12)))
    expect(displayedEnd([term(10), ...gone])).toBe(displayedEnd([term(10), ...left]))
  }
})

test('joining the oldest grants changes nothing that may be used, nor what a later change does', () => {
  let shortened = 0
  const terms = JSON.stringify({
    license: 'lic_1',
    devices: 3,
    seats: null,
    seat_timeout_seconds: 600,
    features: '[]',
  })
  const period = (until: number) => ({
    kind: 'period' as const,
    until: at(until),
    updates_until: at(until + 5),
  })
  const payment = (on: number, more: Partial<Grant>) =>
    grant(on, { source_kind: 'order', source_id: `sor_${on}`, terms, ...more })
  for (let seed = 0; seed < rounds(2000, 50_000); seed += 1) {
    const draw = drawFrom(seed)
    const allowed = { devices: 2, seats: null, seat_timeout_seconds: 600, features: '["cloud"]' }
    const grants = Array.from({ length: 3 + draw(9) }, (_, on) => {
      const days = draw(20)
      const gap = draw(4) === 0 ? day : 0
      const rights = { rights_until: at(on + days), key: { ...allowed, grace_days: 0, banned: 0 as const } }
      const made = [
        () => time(on + 1, days, { gap_ms: gap }),
        () => key(on + 1, days, { gap_ms: gap, source_id: `lic_${on}`, ...rights }),
        () => key(on + 1, draw(3) === 0 ? null : days, { source_id: `lic_${on}` }),
        () => withdrawn(key(on + 1, days + 1, { source_id: `lic_${on}` }), on + 1, draw(days + 1)),
        () => withdrawn(time(on + 1, days), on + 1),
        () => set(on + 1, draw(6) === 0 ? null : on + days),
        () => grant(on + 1, { ...term(on + days), at: at(on + 1) }),
        () => pause(on + 1, on + 1.5),
        () => ({ ...set(on + 1, on + days), source_kind: 'order' as const }),
        () => payment(on + 1, { ...period(on + 1 + days), gap_ms: gap }),
        () => payment(on + 1, { ...period(on + 1 + days + gap / day), moved_ms: days * day, gap_ms: gap }),
        () => atLeast(on + 1, on + 21),
        () => payment(on + 1, { ...period(on + 1 + days), terms: null }),
        () => payment(on + 1, { ...period(on + 1 + days), until: null }),
        () => withdrawn(payment(on + 1, period(on + 1 + days)), on + 2),
        () => payment(on + 1, { moved_ms: days * day, rights_until: at(on + days) }),
        () => payment(on + 1, { moved_ms: days * day, until: at(on + 1), updates_until: at(on + 5 + days) }),
      ]
      return made[draw(made.length)]!()
    })
    const all = [term(10), ...grants]
    const shorter = joined(own, all, 2)
    if (!shorter) continue
    shortened += 1
    expect(shorter.length).toBeLessThan(all.length)
    for (const more of [[], [time(30, 4)], [pause(30, null)], [key(30, null)]]) {
      const [whole, short] = [all, shorter].map((some) => accessOf(own, [...some, ...more]))
      const sorted = (rights: Access['rights']) => rights.toSorted((a, b) => (a.license < b.license ? -1 : 1))
      const compared = ({ periods, rights, ...others }: Access) => {
        const ofPersons = new Set(all.flatMap(({ id, source_kind }) => (source_kind === 'person' ? id : [])))
        const paid = periods.filter(({ id }) => !ofPersons.has(id))
        const longest = Math.max(0, ...periods.map(({ until }) => until))
        return { ...others, paid, longest, rights: sorted(rights) }
      }
      expect(compared(short!)).toEqual(compared(whole!))
    }
  }
  expect(shortened).toBeGreaterThan(900)
})

test('the rights of an added key wait for an upgrade, and no longer once that was taken back', () => {
  const allowed = { devices: 1, seats: null, seat_timeout_seconds: 600, features: '["cloud"]' }
  const terms = JSON.stringify({ ...allowed, license: 'lic_1' })
  const paid = { source_kind: 'order', source_id: 'sor_1', terms } as const
  const year = grant(1, { kind: 'period', until: at(365), ...paid })
  const month = grant(1, { kind: 'period', until: at(31), ...paid })
  const ofKey = { ...allowed, grace_days: 0, banned: 0 as const }
  const added = key(2, 30, { until: at(365), rights_until: at(395), key: ofKey })
  const endless = { ...added, moved_ms: 0, until: at(365) }
  const untilOf = (...grants: Grant[]) =>
    accessOf(own, [term(30), ...grants]).rights.map(({ until }) => until && (until - start) / day)
  for (const one of [added, endless]) {
    expect(untilOf(year, one)).toEqual([365, 395])
    expect(untilOf(withdrawn(year, 3), one)).toEqual([32])
    expect(untilOf(withdrawn(year, 3), month, one)).toEqual([31, 61])
    const waiting = { ...key(1, 30, { rights_until: at(31), key: ofKey }), withdrawn_at: at(4), kept_ms: 0 }
    expect(untilOf(withdrawn(year, 3), waiting, one)).toEqual([61])
  }
})

test('time of an added key waits for a period, and no longer once that was taken back', () => {
  const year = grant(1, { kind: 'period', until: at(365), source_kind: 'order', source_id: 'sor_1' })
  const added = key(2, 30, { until: at(365) })
  expect(displayedEnd([term(30), year, added])).toBe(395)
  expect(displayedEnd([term(30), withdrawn(year, 3), added])).toBe(60)
})
