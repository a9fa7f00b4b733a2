import { checksOf, type MessageKey, type ProgramCall } from '@keyward/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { callOf, type Situation, toSituation } from '../program/verdict/refusal.ts'
import { factsOf, verdict } from '../program/verdict/verdict.ts'
import { toCatalog } from '../releases/catalog.rules.ts'
import { explain, toState } from './explanations.rules.ts'

const now = 1_800_000_000_000
const reason = fc.option(fc.string({ maxLength: 20 }), { nil: null })
const release = (version: string, releasedAt: number) => ({
  ...{ id: version, version, releasedAt, channel: 'stable', link: null, updatesFrom: null },
  ...{ security: null, isWithdrawn: false, hasArtifacts: false },
})
const ending = {
  expiresAt: fc.constantFrom(now - 1, now, now + 1, now + 86_400_000),
  graceDays: fc.constant(0),
  startedAt: fc.constant(null),
}
const endUser = fc.record({
  id: fc.constant('usr_1'),
  isBanned: fc.boolean(),
  banReason: reason,
  isPaused: fc.boolean(),
  ...ending,
})
const key = fc.record({
  id: fc.constant('lic_1'),
  isBanned: fc.boolean(),
  banReason: reason,
  isTest: fc.boolean(),
  ...ending,
})

const anyKnown = fc.record({
  app: fc.record({
    isPlatformPaused: fc.boolean(),
    isPaused: fc.boolean(),
    hwidLock: fc.boolean(),
    requireHwid: fc.boolean(),
    requireActivation: fc.boolean(),
    testLicenses: fc.boolean(),
    minimumVersion: fc.constantFrom(null, '3.0.0'),
    releases: fc.constant(toCatalog([release('2.0.0', now + 5), release('1.0.0', now - 5)])),
  }),
  build: fc.option(fc.record({ hasSecret: fc.boolean(), isAllowed: fc.boolean() }), { nil: null }),
  endUser: fc.option(endUser, { nil: null }),
  key: fc.option(key, { nil: null }),
  caller: fc.record({
    blocked: fc.option(fc.record({ id: fc.constant('blk_1'), reason }), { nil: null }),
    isRefusedVpn: fc.boolean(),
    hwidHash: fc.constant(null),
  }),
  updates: fc.record({
    version: fc.constantFrom(null, '1.0.0', '2.0.0'),
    until: fc.constantFrom(null, now),
  }),
  device: fc.record({
    isSent: fc.boolean(),
    isBound: fc.boolean(),
    hasDriftedTooOften: fc.boolean(),
    isAnother: fc.boolean(),
    used: fc.integer({ min: 0, max: 3 }),
    limit: fc.constantFrom(-1, 1, 2, 3),
  }),
  isTrialStarted: fc.boolean(),
  now: fc.constant(now),
})
type Known = typeof anyKnown extends fc.Arbitrary<infer Value> ? Value : never

const calls = Object.keys(checksOf) as ProgramCall[]
const isOf = (call: ProgramCall, ...others: ProgramCall[]) => others.includes(call)

const isStopped = ({ app, key }: Known) => key?.isTest === true && !app.testLicenses

/** The verdict of a call, written once more without guards and table. */
function verdictOf(call: ProgramCall, known: Known): MessageKey | null {
  const { app, build, endUser, key, caller, updates, device } = known
  if (build?.hasSecret === false || app.isPlatformPaused) return 'appDisabled'
  if (app.isPaused) return 'pausedApp'
  if (call === 'init') return build?.isAllowed === false ? 'hashCheckFail' : null
  if (call === 'logout') return null
  const isUserJudged = call !== 'register'
  if (isUserJudged && endUser?.isBanned) return 'userBanned'
  if (key?.isBanned || isStopped(known)) return 'keyBanned'
  if (isUserJudged && endUser?.isPaused) return 'pausedSub'
  const isKeyJudged = isOf(call, 'register', 'upgrade', 'validate', 'activate')
  const judged = isKeyJudged ? key : (endUser ?? key)
  const hasEnded = judged !== null && judged.expiresAt <= now
  const isUpdates = isOf(call, 'updates', 'updatesByKey')
  if (hasEnded && call !== 'trial' && !isUpdates) return 'noActiveSubs'
  const hasVersion = !isUpdates && !isOf(call, 'upgrade', 'validate', 'activate', 'offlineActivation')
  if (hasVersion && updates.version === '2.0.0' && updates.until !== null) return 'updatesEnded'
  const newest = updates.until === null ? '2.0.0' : '1.0.0'
  const isOlder = updates.version !== null && updates.version !== newest
  if (hasVersion && app.minimumVersion !== null && isOlder) return 'versionTooOld'
  if (caller.blocked) return 'hwidBlacklisted'
  if (call === 'trial' && known.isTrialStarted && (hasEnded || !endUser || !key)) return 'trialUsed'
  if (!isOf(call, 'upgrade', 'updatesByKey') && isDeviceRefused(call, app, device)) return 'hwidMismatch'
  if (call === 'validate' && app.requireActivation && !device.isBound) return 'notActivated'
  return caller.isRefusedVpn && call !== 'offlineActivation' ? 'vpnBlocked' : null
}

function isDeviceRefused(call: ProgramCall, app: Known['app'], device: Known['device']): boolean {
  if (device.isAnother) return true
  if (app.requireHwid && !device.isSent) return true
  if (!app.hwidLock || device.limit === -1 || device.isBound) return false
  if (call === 'lease') return true
  const hasPlace = device.isSent && !device.hasDriftedTooOften && device.used < device.limit
  return device.used > 0 && !hasPlace
}

/** What each fix changes. */
const applied: Record<string, (known: Known) => Known> = {
  resume_platform: (known) => ({ ...known, app: { ...known.app, isPlatformPaused: false } }),
  resume_app: (known) => ({ ...known, app: { ...known.app, isPaused: false } }),
  unban_client: (known) => ({ ...known, endUser: known.endUser && { ...known.endUser, isBanned: false } }),
  unban_license: (known) => ({ ...known, key: known.key && { ...known.key, isBanned: false } }),
  resume_client: (known) => ({ ...known, endUser: known.endUser && { ...known.endUser, isPaused: false } }),
  extend_client: (known) => ({
    ...known,
    endUser: known.endUser && { ...known.endUser, expiresAt: now + 1 },
  }),
  extend_license: (known) => ({ ...known, key: known.key && { ...known.key, expiresAt: now + 1 } }),
  unblock: (known) => ({ ...known, caller: { ...known.caller, blocked: null } }),
  reset_hwid: (known) => ({ ...known, device: { ...known.device, used: 0 } }),
  allow_address: (known) => ({ ...known, caller: { ...known.caller, isRefusedVpn: false } }),
}

const rounds = { numRuns: 10_000 }
const stored = (call: ProgramCall, known: Known): Situation =>
  JSON.parse(JSON.stringify(toSituation(factsOf(call, known))))

test('in 10,000 random states of any call, verdict and explanation of a stored refusal are as expected', () => {
  fc.assert(
    fc.property(fc.constantFrom(...calls), anyKnown, (call, known) => {
      const expected = verdictOf(call, known)
      const state = toState(stored(call, known), null)
      expect(verdict(factsOf(call, known))?.code ?? null).toBe(expected)
      expect(state.code).toBe(expected)
      expect(state.checks.every(({ code }) => typeof checksOf[call][code as 'userBanned'] === 'string')).toBe(
        true,
      )
    }),
    rounds,
  )
})

test('the offered fix removes the reason that it is offered for, in 10,000 random states of any call', () => {
  fc.assert(
    fc.property(fc.constantFrom(...calls), anyKnown, (call, known) => {
      const code = verdictOf(call, known)
      fc.pre(code !== null && known.build?.hasSecret !== false)
      if (code === null) return
      const situation = stored(call, known)
      const refused = { code, appId: 'app_1', subject: null, address: '203.0.113.7', situation, detail: {} }
      const { fix } = explain(refused)
      if (fix) {
        expect(verdictOf(call, applied[fix.action]!(known))).not.toBe(code)
        return
      }
      // The owner can fix nothing with a click if the program is too new or too old or must sign in, if the end user is unknown, or if
      // the app stops licenses of test orders.
      const { device, app, endUser } = known
      const hasToSignIn = device.isAnother || call === 'lease' || (app.requireHwid && !device.isSent)
      const hasNoFix = [
        'hashCheckFail',
        'notActivated',
        'updatesEnded',
        'versionTooOld',
        'trialUsed',
      ].includes(code)
      const isOfDevice = code === 'hwidMismatch' && (hasToSignIn || endUser === null)
      expect(hasNoFix || isOfDevice || (code === 'keyBanned' && isStopped(known))).toBe(true)
    }),
    rounds,
  )
})

const before: Situation = {
  refusing: ['hwidMismatch', 'vpnBlocked'],
  endUserId: 'usr_1',
  licenseId: 'lic_1',
  blockId: null,
  reason: null,
  hwidHash: null,
  device: 'not bound',
  devices: { used: 1, limit: 1 },
  expiresAt: null,
  releasedAt: null,
}

test.each<[string | null, ProgramCall]>([
  ['login', 'login'],
  ['validate', 'activate'],
  ['offline-activations', 'offlineActivation'],
  [':deviceId', 'session'],
  [null, 'session'],
])('a refusal that an earlier version stored for %j is explained by the checks of %s', (path, call) => {
  const state = toState({ ...before, call: callOf(before, path) }, 'hwidMismatch')
  expect(callOf(before, path)).toBe(call)
  expect(state.code).toBe('hwidMismatch')
  expect(state.checks.filter(({ passed }) => !passed).map(({ code }) => code)).toEqual([
    'hwidMismatch',
    'vpnBlocked',
  ])
})

test('a refusal of `validate` that an earlier version stored is for a missing activation only if it was then', () => {
  const calls = [before, { ...before, refusing: ['notActivated' as const] }].map((one) =>
    callOf(one, 'validate'),
  )
  expect(calls).toEqual(['activate', 'validate'])
})

test('a refusal of an earlier version, whose call checked more, keeps its reason', () => {
  const refusing: MessageKey[] = ['noActiveSubs']
  const state = toState({ ...before, refusing, call: 'trial' }, 'trialUsed')
  expect(state.code).toBe('trialUsed')
  expect(state.checks.filter(({ passed }) => !passed).map(({ code }) => code)).toEqual([
    'trialUsed',
    'noActiveSubs',
  ])
})
