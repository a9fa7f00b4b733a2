import type { SecurityFix } from '@keyward/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rounds } from '../../../test/rounds.ts'
import { day } from '../../core/clock.ts'
import {
  adviseOn,
  covers,
  coversVersion,
  hasFix,
  hasUpdate,
  isOlder,
  isTooOld,
  type ListedRelease,
  newestCovered,
  newestWithin,
  toCatalog,
  updatesOf,
} from './catalog.rules.ts'

const now = 100 * day

const release = (version: string, releasedOn: number, more: Partial<ListedRelease> = {}): ListedRelease => ({
  id: `rel_${version}`,
  version,
  releasedAt: releasedOn * day,
  channel: 'stable',
  link: `https://example.com/${version}`,
  updatesFrom: null,
  security: null,
  isWithdrawn: false,
  hasArtifacts: true,
  ...more,
})
const fix = (affects: SecurityFix['affects'], more: Partial<SecurityFix> = {}): SecurityFix => ({
  severity: 'high',
  affects,
  summary: 'A file can run code',
  advisory: null,
  ...more,
})
const below = (before: string, from: string | null = null) => ({ from, before })
const listed = (...releases: ListedRelease[]) =>
  toCatalog(releases.toSorted((one, other) => other.releasedAt - one.releasedAt))

const plain = listed(release('1.0.0', 1), release('1.9.0', 20), release('2.0.0', 40))
const repaired = listed(...plain.newest, release('1.9.1', 60, { security: fix([below('1.9.1', '1.2.0')]) }))
const withdrawn = listed(...plain.newest, release('2.1.0', 50, { isWithdrawn: true }))
const beta = listed(...plain.newest, release('2.1.0', 50, { channel: 'beta' }))
const future = listed(...plain.newest, release('2.1.0', 102))

test.each([
  ['of all updates', plain, null, '2.0.0'],
  ['whose updates end with a release', plain, 40 * day, '2.0.0'],
  ['whose updates end before it', plain, 40 * day - 1, '1.9.0'],
  ['whose updates end before all', plain, 0, undefined],
  ['whose updates end before a security fix', repaired, 10 * day, '1.9.1'],
  ['that covers a newer version than the fix', repaired, 40 * day, '2.0.0'],
  ['whose newest release is withdrawn', withdrawn, null, '2.0.0'],
  ['whose newest release is of another channel', beta, null, '2.0.0'],
  ['whose newest release is not out', future, null, '2.0.0'],
])('the newest release of a license %s', (_what, catalog, until, version) => {
  expect(newestCovered(catalog, until, now, 'stable')?.version).toBe(version)
})

test.each([
  ['below the oldest that may run', plain, '1.9.0', '2.0.0', null, true],
  ['the oldest that may run', plain, '2.0.0', '2.0.0', null, false],
  ['that the app does not list', plain, '1.5.0', '2.0.0', null, true],
  ['with nothing newer for the license', plain, '1.9.0', '2.0.0', 30 * day, false],
  ['older than the newest for the license', plain, '1.0.0', '2.0.0', 30 * day, true],
  ['of an app without releases', listed(), '1.0.0', '2.0.0', null, true],
  ['with a security fix', repaired, '1.9.1', '3.0.0', null, false],
  ['whose security fix is no longer listed', toCatalog([], ['1.9.1']), '1.9.1', '3.0.0', null, false],
  ['that is the newest, although none may run', plain, '2.0.0', '9.0.0', null, false],
  ['that is withdrawn', withdrawn, '2.1.0', '9.0.0', null, true],
  ['of another channel that is the newest', beta, '2.1.0', '9.0.0', null, false],
  ['that is not three numbers', plain, 'nightly', '2.0.0', null, false],
  ['of two numbers', plain, '1.9', '2.0.0', null, false],
])('refuses as too old a version %s: %#', (_what, catalog, version, minimum, until, expected) => {
  expect(isTooOld({ releases: catalog, minimumVersion: minimum }, { version, until }, now)).toBe(expected)
})

const step = listed(...plain.newest, release('3.0.0', 50, { updatesFrom: '2.0.0' }))
test.each([
  ['an old one', plain, '1.0.0', ['2.0.0', '1.9.0']],
  ['the newest', plain, '2.0.0', []],
  ['a newer one', plain, '2.5.0', []],
  ['an unknown one', plain, null, ['2.0.0', '1.9.0', '1.0.0']],
  ['one that is not three numbers', plain, 'nightly', ['2.0.0', '1.9.0', '1.0.0']],
  ['one too old for the newest', step, '1.9.0', ['2.0.0']],
  ['one new enough for the newest', step, '2.0.0', ['3.0.0']],
  ['one below a withdrawn release', withdrawn, '2.0.0', []],
  ['one below a release of another channel', beta, '2.0.0', []],
  ['one below a release that is not out', future, '2.0.0', []],
])('lists what a version may update to: %s', (_what, catalog, version, expected) => {
  expect(updatesOf(catalog, { channel: 'stable', version }, now).map((one) => one.version)).toEqual(expected)
})

const only = (more: Partial<ListedRelease>) => listed(release('2.0.0', 40, { hasArtifacts: false, ...more }))
test.each([
  ['that is listed', only({}), null, true],
  ['that is not listed', listed(), null, true],
  ['that the license does not cover', only({}), 30 * day, false],
  ['that is withdrawn, with no older one to go back to', only({ isWithdrawn: true }), null, false],
])("finds an update in the app's version %s", (_what, catalog, until, expected) => {
  expect(hasUpdate(catalog, { program: '1.0.0', app: '2.0.0', until }, now)).toBe(expected)
})

const twice = listed(
  ...plain.newest,
  release('1.9.1', 50, { security: fix([below('1.9.1')], { severity: 'low', summary: 'old' }) }),
  release('1.9.2', 60, { security: fix([below('1.9.2')], { severity: 'critical', summary: 'first' }) }),
  release('1.9.3', 70, {
    security: fix([below('1.9.3', '1.5.0')], { severity: 'critical', summary: 'last' }),
  }),
)
const ofSecond = listed(release('1.0.0', 1), release('2.0.1', 50, { security: fix([below('2.0.1')]) }))
const gone = listed(
  release('1.0.0', 1),
  release('1.0.1', 50, { security: fix([below('1.0.1')]), isWithdrawn: true }),
)
test.each([
  ['before the range', repaired, '1.1.9', null],
  ['at the start of the range', repaired, '1.2.0', '1.9.1'],
  ['below its end', repaired, '1.9.0', '1.9.1'],
  ['at its end', repaired, '1.9.1', null],
  ['with another first number', repaired, '2.0.0', null],
  ['that is not three numbers', repaired, '1.5', null],
  ['of a program that names none', repaired, null, null],
  ['without a repaired release of its first number', ofSecond, '1.0.0', '2.0.1'],
])('advises on a version %s', (_what, catalog, version, expected) => {
  expect(adviseOn(catalog, version, now)?.advisory.version ?? null).toBe(expected)
})

test('names of several fixes the most severe, then the last one, and no withdrawn release', () => {
  expect(adviseOn(twice, '1.0.0', now)?.advisory).toMatchObject({
    severity: 'critical',
    summary: 'first',
    version: '1.9.3',
  })
  expect(adviseOn(twice, '1.6.0', now)?.advisory).toMatchObject({
    severity: 'critical',
    summary: 'last',
    version: '1.9.3',
  })
  expect(adviseOn(gone, '1.0.0', now)?.advisory).toEqual({
    ...{ version: null, severity: 'high', summary: 'A file can run code', url: null },
  })
  expect(adviseOn(repaired, '1.9.0', 50 * day)).toBe(undefined)
})

test('compares versions by their numbers, not by their texts', () => {
  const listing = listed(release('1.2.0', 1), release('1.03.0', 40))
  for (const version of ['1.3.0', '1.03.0', '1.3.00']) {
    expect(coversVersion(listing, { version, until: 10 * day })).toBe(false)
    expect(isTooOld({ releases: listing, minimumVersion: '2.0.0' }, { version, until: null }, now)).toBe(
      false,
    )
    expect(newestWithin(listing, version, now)).toEqual({ from: 40 * day, before: null })
  }
  for (const version of ['1.9.1', '1.09.1']) {
    expect(hasFix(repaired, version)).toBe(true)
    expect(hasFix(toCatalog([], ['01.9.1']), version)).toBe(true)
  }
})

/** Written once more, by texts instead of numbers. */
const older = (one: string, other: string) => one.localeCompare(other, 'en-US', { numeric: true }) < 0
const highest = (releases: readonly ListedRelease[]) =>
  releases.reduce<ListedRelease | undefined>(
    (best, one) => (!best || older(best.version, one.version) ? one : best),
    undefined,
  )

const version = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 12 }), fc.constantFrom(0, 1, 10))
  .map((numbers) => numbers.join('.'))
const anyRelease = fc.record({
  version,
  releasedOn: fc.integer({ min: 0, max: 110 }),
  channel: fc.constantFrom('stable', 'stable', 'beta'),
  isWithdrawn: fc.constantFrom(false, false, false, true),
  updatesFrom: fc.option(version, { nil: null, freq: 4 }),
  fixes: fc.option(fc.tuple(version, version, fc.constantFrom('low', 'critical')), { nil: null, freq: 3 }),
})
const state = fc.record({
  releases: fc.uniqueArray(anyRelease, { maxLength: 12, selector: (one) => one.version }),
  hasArtifacts: fc.boolean(),
  program: version,
  minimum: version,
  until: fc.option(fc.integer({ min: 0, max: 120 }), { nil: null, freq: 4 }),
})

test('states of licenses: nothing beyond its updates, no fixed version refused, what is newest for it runs', () => {
  const check = ({
    releases,
    hasArtifacts,
    program,
    minimum,
    until: ends,
  }: typeof state extends fc.Arbitrary<infer S> ? S : never) => {
    const all = releases.map(({ releasedOn, fixes, ...more }) =>
      release(more.version, releasedOn, {
        ...more,
        hasArtifacts,
        security:
          fixes &&
          fix([{ from: fixes[0], before: fixes[1] }], { severity: fixes[2] as SecurityFix['severity'] }),
      }),
    )
    const catalog = listed(...all)
    const until = ends === null ? null : ends * day
    const inWindow = all.filter((one) => one.security !== null || until === null || one.releasedAt <= until)
    for (const one of all) {
      expect(covers(one, until)).toBe(inWindow.includes(one))
      expect(coversVersion(catalog, { version: one.version, until })).toBe(inWindow.includes(one))
    }
    const usable = inWindow.filter((one) => !one.isWithdrawn && one.releasedAt < now + day)
    const stable = usable.filter(({ channel }) => channel === 'stable')
    expect(newestCovered(catalog, until, now, 'stable')?.version).toBe(highest(stable)?.version)
    const mine = all.find((one) => one.version === program)
    const isNewest = [highest(usable), highest(stable)].some((one) => one?.version === program)
    const tooOld = older(program, minimum) && !mine?.security && !isNewest
    expect(isTooOld({ releases: catalog, minimumVersion: minimum }, { version: program, until }, now)).toBe(
      tooOld,
    )
    const window = newestWithin(catalog, program, now)
    const isWithin =
      window !== undefined &&
      (until === null ? window.before === null : until >= window.from && until < (window.before ?? Infinity))
    if (!hasFix(catalog, program)) expect(isWithin).toBe(isNewest)
    const next = stable.filter(
      (one) => older(program, one.version) && (one.updatesFrom === null || !older(program, one.updatesFrom)),
    )
    const wanted = { channel: 'stable', version: program }
    const found = updatesOf(catalog, wanted, now).find((one) => covers(one, until))
    expect(found?.version).toBe(highest(next)?.version)
    if (hasArtifacts && all.length > 0) {
      expect(hasUpdate(catalog, { program, app: '9.9.9', until }, now)).toBe(found !== undefined)
    }
    const isAffected = (one: string, { security }: ListedRelease) =>
      security?.affects.some(
        ({ from, before }) => !older(one, from ?? '0.0.0') && older(one, before ?? '99.0.0'),
      ) === true
    const warnings = all.filter((one) => one.releasedAt < now + day && isAffected(program, one))
    const advisory = adviseOn(catalog, program, now)?.advisory
    expect(advisory === undefined).toBe(warnings.length === 0)
    if (!advisory) return
    const isCritical = warnings.some(({ security }) => security?.severity === 'critical')
    expect(advisory.severity).toBe(isCritical ? 'critical' : 'low')
    const repairing = all.find((one) => one.version === advisory.version)
    expect(repairing?.isWithdrawn ?? false).toBe(false)
  }
  fc.assert(fc.property(state, check), { numRuns: rounds(2_000, 20_000) })
})

test.each([
  ['1.0.0', '1.0.0', false],
  ['1.0.0', '1.0.1', true],
  ['1.0.9', '1.0.10', true],
  ['1.2.0', '1.1.9', false],
  ['10.0.0', '9.9.9', false],
  ['0.9.9', '1.0.0', true],
  ['1.0', '1.0.0', true],
  ['v1.0.0', '1.0.0', true],
  ['', '1.0.0', true],
])('version %j is older than %j: %s', (mine, newest, expected) => {
  expect(isOlder(mine, newest)).toBe(expected)
})
