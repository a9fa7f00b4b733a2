import { verdictOrder } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../core/crypto.ts'
import { appGuards, appVerdict, userGuards, userVerdict, type VerdictFacts } from './program.verdict.ts'

const now = 1_000_000
const bound = sha256('pc-1')
const endUser = { isBanned: false, banReason: null, isPaused: false, hwidHash: null }
const allowed: VerdictFacts = {
  app: { isPlatformPaused: false, isPaused: false, hwidLock: true, requireHwid: false },
  endUser,
  key: { isBanned: false, banReason: null },
  caller: { blocked: null, isRefusedVpn: false },
  expiresAt: now + 1,
  sentHwidHash: null,
  now,
}

/** A change that makes each guard refuse, in guard order. */
const causes: [code: string, breakFacts: (facts: VerdictFacts) => VerdictFacts][] = [
  ['appDisabled', (facts) => ({ ...facts, app: { ...facts.app, isPlatformPaused: true } })],
  ['pausedApp', (facts) => ({ ...facts, app: { ...facts.app, isPaused: true } })],
  ['userBanned', (facts) => ({ ...facts, endUser: { ...endUser, ...facts.endUser, isBanned: true } })],
  ['keyBanned', (facts) => ({ ...facts, key: { isBanned: true, banReason: null } })],
  ['pausedSub', (facts) => ({ ...facts, endUser: { ...endUser, ...facts.endUser, isPaused: true } })],
  ['noActiveSubs', (facts) => ({ ...facts, expiresAt: now })],
  [
    'hwidBlacklisted',
    (facts) => ({ ...facts, caller: { ...facts.caller, blocked: { id: 'blk_1', reason: null } } }),
  ],
  ['hwidMismatch', (facts) => ({ ...facts, endUser: { ...endUser, ...facts.endUser, hwidHash: bound } })],
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

describe('reports the first of several reasons', () => {
  const combinations = Array.from({ length: 2 ** causes.length }, (_, bits) =>
    causes.filter((_cause, at) => bits & (1 << at)),
  )
  test.each(
    combinations.map((chosen) => [chosen.map(([code]) => code).join(' and ') || 'nothing', chosen] as const),
  )('%s', (_what, chosen) => {
    const facts = chosen.reduce((before, [, breakFacts]) => breakFacts(before), allowed)
    expect(appVerdict(facts.app) ?? userVerdict(facts)?.code).toBe(chosen[0]?.[0])
  })
})

test.each([
  ['nothing bound, nothing sent', null, null, true, true],
  ['nothing bound, something sent', null, bound, true, true],
  ['bound, the same sent', bound, bound, true, true],
  ['bound, nothing sent', bound, null, true, false],
  ['bound, another sent', bound, sha256('pc-2'), true, false],
  ['bound, an empty text sent', bound, '', true, false],
  ['bound, a prefix sent', bound, bound.slice(0, 32), true, false],
  ['bound, the lock off', bound, sha256('pc-2'), false, true],
  ['bound, nothing sent, the lock off', bound, null, false, true],
])('a lock with %s', (_what, hwidHash, sentHwidHash, hwidLock, passes) => {
  const facts = {
    ...allowed,
    app: { ...allowed.app, hwidLock },
    endUser: { ...endUser, hwidHash },
    sentHwidHash,
  }
  expect(userVerdict(facts)?.code).toBe(passes ? undefined : 'hwidMismatch')
})

test.each<[string, Partial<VerdictFacts>, string | null]>([
  ['a banned end user', { endUser: { ...endUser, isBanned: true, banReason: 'fraud' } }, 'fraud'],
  ['a banned key', { key: { isBanned: true, banReason: 'refunded' } }, 'refunded'],
  [
    'a blocked device',
    { caller: { blocked: { id: 'blk_1', reason: 'leaked' }, isRefusedVpn: false } },
    'leaked',
  ],
  ['a ban without a reason', { key: { isBanned: true, banReason: null } }, null],
])('the refusal of %s has its reason', (_what, change, reason) => {
  expect(userVerdict({ ...allowed, ...change })?.reason).toBe(reason)
})

test.each([
  ['nothing', null, 'hwidMismatch'],
  ['an id', bound, undefined],
])('an app that requires a hardware id, with the lock off, and %s sent', (_what, sentHwidHash, code) => {
  const app = { ...allowed.app, hwidLock: false, requireHwid: true }
  expect(userVerdict({ ...allowed, app, sentHwidHash })?.code).toBe(code)
})
