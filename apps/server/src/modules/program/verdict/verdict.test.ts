import { checksOf, type ProgramCall, reasonsOf, verdictOrder } from '@keyward/contract'
import { expect, test } from 'vitest'
import { ofTestOrder } from '../../licenses/licenses.rules.ts'
import { toCatalog } from '../../releases/catalog.rules.ts'
import {
  appVerdict,
  callChecks,
  type Ending,
  factsOf,
  type GuardCode,
  guards,
  type VerdictFacts,
  verdict,
} from './verdict.ts'

const now = 1_000_000
const device = { isSent: false, isBound: false, used: 0, limit: 1 }
const ending: Ending = { expiresAt: now + 1, graceDays: 0, startedAt: null }
const endUser = { id: 'usr_1', isBanned: false, banReason: null, isPaused: false, ...ending }
const key = { id: 'lic_1', isBanned: false, banReason: null, isTest: false, ...ending }
const release = (version: string, releasedAt: number) => ({
  ...{ id: version, version, releasedAt, channel: 'stable', link: null, updatesFrom: null },
  ...{ security: null, isWithdrawn: false, hasArtifacts: false },
})
const app = {
  isPlatformPaused: false,
  isPaused: false,
  hwidLock: true,
  requireHwid: false,
  requireActivation: false,
  testLicenses: true,
  minimumVersion: null,
  releases: toCatalog([release('2.0.0', 6), release('1.0.0', 1)]),
}
const testKey = { ...key, isTest: true }
const stopping = { ...app, testLicenses: false }
const updates = { version: '1.5.0', until: null }
const allowed = factsOf('login', { app, endUser, key, updates, device, now })

/** A change that makes each guard refuse, in reporting order. */
const causes: Record<GuardCode, (facts: VerdictFacts) => VerdictFacts> = {
  appDisabled: (facts) => ({ ...facts, app: { ...facts.app, isPlatformPaused: true } }),
  pausedApp: (facts) => ({ ...facts, app: { ...facts.app, isPaused: true } }),
  hashCheckFail: (facts) => ({ ...facts, build: { hasSecret: true, isAllowed: false } }),
  userBanned: (facts) => ({ ...facts, endUser: { ...endUser, ...facts.endUser, isBanned: true } }),
  keyBanned: (facts) => ({ ...facts, key: { ...key, isBanned: true } }),
  pausedSub: (facts) => ({ ...facts, endUser: { ...endUser, ...facts.endUser, isPaused: true } }),
  noActiveSubs: (facts) => ({ ...facts, ending: { ...ending, expiresAt: now } }),
  updatesEnded: (facts) => ({ ...facts, updates: { version: '2.0.0', until: 5 } }),
  versionTooOld: (facts) => ({ ...facts, app: { ...facts.app, minimumVersion: '3.0.0' } }),
  hwidBlacklisted: (facts) => ({
    ...facts,
    caller: { ...facts.caller, blocked: { id: 'blk_1', reason: null } },
  }),
  trialUsed: (facts) => ({ ...facts, isTrialStarted: true, ending: { ...ending, expiresAt: now } }),
  hwidMismatch: (facts) => ({ ...facts, device: { ...facts.device, used: 1 } }),
  notActivated: (facts) => ({ ...facts, app: { ...facts.app, requireActivation: true } }),
  vpnBlocked: (facts) => ({ ...facts, caller: { ...facts.caller, isRefusedVpn: true } }),
}
const causeOf = (code: GuardCode) => causes[code]
const codes = Object.keys(causes) as GuardCode[]
const calls = Object.keys(checksOf) as ProgramCall[]

test('the table of causes has every guard in the documented order', () => {
  expect(codes.toSorted()).toEqual(Object.keys(guards).toSorted())
  expect(verdictOrder.filter((code) => (codes as string[]).includes(code))).toEqual(codes)
})

test('every call runs the guards of its row, in the documented order, and every guard runs in some call', () => {
  for (const call of calls) {
    const run = callChecks[call].map(({ code }) => code)
    expect(run).toEqual(reasonsOf(call).filter((code) => (codes as string[]).includes(code)))
  }
  const used = new Set(calls.flatMap((call) => callChecks[call].map(({ code }) => code)))
  expect(codes.filter((code) => !used.has(code))).toEqual([])
})

test('a check that a call does not make has a reason in a sentence', () => {
  for (const call of calls) {
    const reasons = Object.values(checksOf[call]).flatMap((cell) =>
      typeof cell === 'string' ? [] : [cell.not],
    )
    for (const reason of reasons) expect(reason).toMatch(/^[A-Z].{10,}\.$/)
  }
})

test.each(calls)('%s reports the first of several reasons that it checks, in every combination', (call) => {
  const made = callChecks[call].map(({ code }) => code)
  const combinations = Array.from({ length: 2 ** codes.length }, (_, bits) =>
    codes.filter((_code, at) => bits & (1 << at)),
  )
  for (const chosen of combinations) {
    const facts = chosen.reduce((before, code) => causeOf(code)(before), { ...allowed, call })
    const broken = new Set<GuardCode>(chosen)
    // Both judge the same end.
    if (facts.isTrialStarted && chosen.includes('noActiveSubs')) broken.add('trialUsed')
    if (chosen.includes('trialUsed')) broken.add('noActiveSubs')
    if (call === 'lease' && !facts.device.isBound) broken.add('hwidMismatch')
    const expected = made.find((code) => broken.has(code))
    if (verdict(facts)?.code !== expected) expect([chosen, verdict(facts)?.code]).toEqual([chosen, expected])
  }
})

test('the checks of the app alone give the same answer as the verdict of every call', () => {
  const states = [false, true].flatMap((isPaused) =>
    [false, true].map((isPlatformPaused) => ({ ...app, isPaused, isPlatformPaused })),
  )
  for (const call of calls)
    for (const state of states) {
      const facts: VerdictFacts = { ...allowed, call, app: state, device: { ...device, isBound: true } }
      expect(appVerdict(state)).toBe(verdict(facts)?.code)
    }
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
  expect(verdict({ ...allowed, device: facts })?.code).toBe(passes ? undefined : 'hwidMismatch')
  const unlocked = { ...app, hwidLock: false }
  expect(verdict({ ...allowed, app: unlocked, device: facts })).toBe(undefined)
})

test.each<[string, Partial<VerdictFacts>, string | null]>([
  ['a banned end user', { endUser: { ...endUser, isBanned: true, banReason: 'fraud' } }, 'fraud'],
  ['a banned key', { key: { ...key, isBanned: true, banReason: 'refunded' } }, 'refunded'],
  [
    'a blocked device',
    { caller: { blocked: { id: 'blk_1', reason: 'leaked' }, isRefusedVpn: false, hwidHash: null } },
    'leaked',
  ],
  ['a ban without a reason', { key: { ...key, isBanned: true } }, null],
])('the refusal of %s has its reason', (_what, change, reason) => {
  expect(verdict({ ...allowed, ...change })?.reason).toBe(reason)
})

test.each<[string, Partial<VerdictFacts>, string | null | undefined]>([
  ['of a test order is let in', { key: testKey }, undefined],
  ['of a test order is refused where those do not work', { app: stopping, key: testKey }, ofTestOrder],
  [
    'of a test order is refused for that before a ban',
    { app: stopping, key: { ...testKey, isBanned: true, banReason: 'fraud' } },
    ofTestOrder,
  ],
  ['of a real order is let in where those of test orders do not work', { app: stopping, key }, undefined],
])('a key %s', (_what, change, reason) => {
  const refusal = verdict({ ...allowed, ...change })
  expect(refusal).toEqual(
    reason === undefined ? undefined : expect.objectContaining({ code: 'keyBanned', reason }),
  )
})

test.each([
  ['nothing', device, 'hwidMismatch'],
  ['an id', sent, undefined],
])('an app that requires a hardware id, with the lock off, and %s sent', (_what, facts, code) => {
  const required = { ...app, hwidLock: false, requireHwid: true }
  expect(verdict({ ...allowed, app: required, device: facts })?.code).toBe(code)
})

test.each([
  ['released before the end', '2.0.0', 7, true],
  ['released at the end', '2.0.0', 6, true],
  ['released after the end', '2.0.0', 5, false],
  ['that the app does not list', '2.5.0', 5, true],
  ['of a program that names none', null, 5, true],
  ['of a license that covers all versions', '2.0.0', null, true],
])('a version %s', (_what, version, until, passes) => {
  expect(verdict({ ...allowed, updates: { version, until } })?.code).toBe(passes ? undefined : 'updatesEnded')
})

test.each<[ProgramCall, 'key' | 'end user']>([
  ['login', 'end user'],
  ['license', 'end user'],
  ['session', 'end user'],
  ['offlineActivation', 'end user'],
  ['upgrade', 'key'],
  ['validate', 'key'],
  ['register', 'key'],
])('%s judges the end of the %s', (call, subject) => {
  const ended = { expiresAt: now }
  const endedUser = factsOf(call, { app, endUser: { ...endUser, ...ended }, key, device, now })
  const endedKey = factsOf(call, { app, endUser, key: { ...key, ...ended }, device, now })
  expect(verdict(endedUser)?.code).toBe(subject === 'key' ? undefined : 'noActiveSubs')
  expect(verdict(endedKey)?.code).toBe(subject === 'key' ? 'noActiveSubs' : undefined)
  const unused = factsOf(call, { app, key: { ...key, ...ended }, device, now })
  expect(verdict(unused)?.code).toBe('noActiveSubs')
})

test.each([
  ['a running one with its license', { endUser, key }, undefined],
  ['one that has ended', { endUser: { ...endUser, expiresAt: now }, key }, 'trialUsed'],
  ['one whose license was deleted', { endUser }, 'trialUsed'],
  ['one whose end user was deleted', {}, 'trialUsed'],
])('a trial that was started on the device, %s', (_what, known, code) => {
  expect(verdict(factsOf('trial', { app, device, isTrialStarted: true, now, ...known }))?.code).toBe(code)
})

test.each([
  ['on the bound device', { ...sent, isBound: true, used: 1 }, undefined],
  ['on a machine with a free place', { ...sent, used: 1, limit: 2 }, 'hwidMismatch'],
  ['without a limit of devices', { ...sent, used: 1, limit: -1 }, undefined],
  [
    'for another machine than the session is on',
    { ...sent, isBound: true, used: 1, isAnother: true },
    'hwidMismatch',
  ],
])('a lease %s', (_what, leased, code) => {
  expect(verdict(factsOf('lease', { app, endUser, key, device: leased, now }))?.code).toBe(code)
})
