import { verdictOrder } from '@keyward/contract'
import { expect, test } from 'vitest'
import { everyRow } from '../../../../test/every-row.ts'
import { appGuards, appVerdict, userGuards, userVerdict, type VerdictFacts } from './verdict.ts'

const now = 1_000_000
const device = { isSent: false, isBound: false, used: 0, limit: 1 }
const endUser = { id: 'usr_1', isBanned: false, banReason: null, isPaused: false }
const allowed: VerdictFacts = {
  app: { isPlatformPaused: false, isPaused: false, hwidLock: true, requireHwid: false },
  endUser,
  key: { id: 'lic_1', isBanned: false, banReason: null },
  caller: { blocked: null, isRefusedVpn: false, hwidHash: null },
  updates: { releasedAt: null, until: null },
  expiresAt: now + 1,
  device,
  mustBeActivated: false,
  now,
}

/** A change that makes each guard refuse, in guard order. */
const causes: [code: string, breakFacts: (facts: VerdictFacts) => VerdictFacts][] = [
  ['appDisabled', (facts) => ({ ...facts, app: { ...facts.app, isPlatformPaused: true } })],
  ['pausedApp', (facts) => ({ ...facts, app: { ...facts.app, isPaused: true } })],
  ['userBanned', (facts) => ({ ...facts, endUser: { ...endUser, ...facts.endUser, isBanned: true } })],
  ['keyBanned', (facts) => ({ ...facts, key: { id: 'lic_1', isBanned: true, banReason: null } })],
  ['pausedSub', (facts) => ({ ...facts, endUser: { ...endUser, ...facts.endUser, isPaused: true } })],
  ['noActiveSubs', (facts) => ({ ...facts, expiresAt: now })],
  ['updatesEnded', (facts) => ({ ...facts, updates: { releasedAt: 6, until: 5 } })],
  [
    'hwidBlacklisted',
    (facts) => ({ ...facts, caller: { ...facts.caller, blocked: { id: 'blk_1', reason: null } } }),
  ],
  ['hwidMismatch', (facts) => ({ ...facts, device: { ...facts.device, used: 1 } })],
  ['notActivated', (facts) => ({ ...facts, mustBeActivated: true })],
  ['vpnBlocked', (facts) => ({ ...facts, caller: { ...facts.caller, isRefusedVpn: true } })],
]

test('this table covers every guard in order', () => {
  const codes = [...appGuards, ...userGuards].map(({ code }) => code)
  expect(causes.map(([code]) => code)).toEqual(codes)
})

test('the guards run in the documented order', () => {
  const codes = [...appGuards, ...userGuards].map(({ code }) => code)
  expect(verdictOrder.filter((code) => (codes as string[]).includes(code))).toEqual(codes)
})

test('reports the first of several reasons, in every combination of them', () => {
  const combinations = Array.from({ length: 2 ** causes.length }, (_, bits) =>
    causes.filter((_cause, at) => bits & (1 << at)),
  )
  expect(combinations.length).toBe(2 ** (appGuards.length + userGuards.length))
  return everyRow(
    combinations.map((chosen) => [chosen.map(([code]) => code).join(' and ') || 'nothing', chosen] as const),
    (_what, chosen) => {
      const facts = chosen.reduce((before, [, breakFacts]) => breakFacts(before), allowed)
      expect(appVerdict(facts.app) ?? userVerdict(facts)?.code).toBe(chosen[0]?.[0])
    },
  )
})

const sent = { ...device, isSent: true }
test.each([
  ['nothing bound, nothing sent', device, true],
  ['nothing bound, something sent', sent, true],
  ['the only place bound, the same sent', { ...sent, isBound: true, used: 1 }, true],
  ['the only place bound, nothing sent', { ...device, used: 1 }, false],
  ['the only place bound, another sent', { ...sent, used: 1 }, false],
  ['two of three places bound, another sent', { ...sent, used: 2, limit: 3 }, true],
  ['two of three places bound, nothing sent', { ...device, used: 2, limit: 3 }, false],
  [
    'two of three places bound, drifted too often',
    { ...sent, hasDriftedTooOften: true, used: 2, limit: 3 },
    false,
  ],
  ['three of three places bound, another sent', { ...sent, used: 3, limit: 3 }, false],
  [
    'more places bound than the license has now, one of them',
    { ...sent, isBound: true, used: 3, limit: 1 },
    true,
  ],
  ['unlimited places, another sent', { ...sent, used: 900, limit: -1 }, true],
  ['unlimited places, nothing sent', { ...device, used: 900, limit: -1 }, true],
])('a lock with %s', (_what, facts, passes) => {
  expect(userVerdict({ ...allowed, device: facts })?.code).toBe(passes ? undefined : 'hwidMismatch')
  const app = { ...allowed.app, hwidLock: false }
  expect(userVerdict({ ...allowed, app, device: facts })).toBe(undefined)
})

test.each<[string, Partial<VerdictFacts>, string | null]>([
  ['a banned end user', { endUser: { ...endUser, isBanned: true, banReason: 'fraud' } }, 'fraud'],
  ['a banned key', { key: { id: 'lic_1', isBanned: true, banReason: 'refunded' } }, 'refunded'],
  [
    'a blocked device',
    { caller: { blocked: { id: 'blk_1', reason: 'leaked' }, isRefusedVpn: false, hwidHash: null } },
    'leaked',
  ],
  ['a ban without a reason', { key: { id: 'lic_1', isBanned: true, banReason: null } }, null],
])('the refusal of %s has its reason', (_what, change, reason) => {
  expect(userVerdict({ ...allowed, ...change })?.reason).toBe(reason)
})

test.each([
  ['nothing', device, 'hwidMismatch'],
  ['an id', sent, undefined],
])('an app that requires a hardware id, with the lock off, and %s sent', (_what, facts, code) => {
  const app = { ...allowed.app, hwidLock: false, requireHwid: true }
  expect(userVerdict({ ...allowed, app, device: facts })?.code).toBe(code)
})

test.each([
  ['released before the end', 5, 6, true],
  ['released at the end', 6, 6, true],
  ['released after the end', 7, 6, false],
  ['that the app does not list', null, 6, true],
  ['of a license that covers all versions', 7, null, true],
])('a version %s', (_what, releasedAt, until, passes) => {
  expect(userVerdict({ ...allowed, updates: { releasedAt, until } })?.code).toBe(
    passes ? undefined : 'updatesEnded',
  )
})
