import type { MessageKey } from '@keyward/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allGuards, type Situation, toSituation } from '../program/verdict/situation.ts'
import { appVerdict, userVerdict, type VerdictFacts } from '../program/verdict/verdict.ts'
import { explain, toState } from './explanations.rules.ts'

const now = 1_800_000_000_000
const reason = fc.option(fc.string({ maxLength: 20 }), { nil: null })

const anyFacts: fc.Arbitrary<VerdictFacts> = fc.record({
  app: fc.record({
    isPlatformPaused: fc.boolean(),
    isPaused: fc.boolean(),
    hwidLock: fc.boolean(),
    requireHwid: fc.boolean(),
  }),
  endUser: fc.option(
    fc.record({
      id: fc.constant('usr_1'),
      isBanned: fc.boolean(),
      banReason: reason,
      isPaused: fc.boolean(),
    }),
    { nil: null },
  ),
  key: fc.option(
    fc.record({
      id: fc.constant('lic_1'),
      isBanned: fc.boolean(),
      banReason: reason,
    }),
    {
      nil: null,
    },
  ),
  caller: fc.record({
    blocked: fc.option(fc.record({ id: fc.constant('blk_1'), reason }), { nil: null }),
    isRefusedVpn: fc.boolean(),
    hwidHash: fc.constant(null),
  }),
  mustBeActivated: fc.boolean(),
  updates: fc.record({
    releasedAt: fc.constantFrom(null, now - 5, now + 5),
    until: fc.constantFrom(null, now),
  }),
  device: fc.record({
    isSent: fc.boolean(),
    isBound: fc.boolean(),
    hasDriftedTooOften: fc.boolean(),
    used: fc.integer({ min: 0, max: 3 }),
    limit: fc.constantFrom(-1, 1, 2, 3),
  }),
  expiresAt: fc.constantFrom(now - 1, now, now + 1, now + 86_400_000),
  now: fc.constant(now),
})

/** The verdict, written once more without the guards. */
function verdictOf(facts: VerdictFacts): MessageKey | null {
  const { app, endUser, key, caller, mustBeActivated, updates, expiresAt, device } = facts
  if (app.isPlatformPaused) return 'appDisabled'
  if (app.isPaused) return 'pausedApp'
  if (endUser?.isBanned) return 'userBanned'
  if (key?.isBanned) return 'keyBanned'
  if (endUser?.isPaused) return 'pausedSub'
  if (expiresAt <= now) return 'noActiveSubs'
  if (updates.until !== null && (updates.releasedAt ?? 0) > updates.until) return 'updatesEnded'
  if (caller.blocked) return 'hwidBlacklisted'
  if (app.requireHwid && !device.isSent) return 'hwidMismatch'
  const hasPlace = device.isSent && !device.hasDriftedTooOften && device.used < device.limit
  const isFree = device.limit === -1 || device.isBound || device.used === 0 || hasPlace
  if (app.hwidLock && !isFree) return 'hwidMismatch'
  if (mustBeActivated && !device.isBound) return 'notActivated'
  return caller.isRefusedVpn ? 'vpnBlocked' : null
}

/** What each fix changes in the facts. */
const applied: Record<string, (facts: VerdictFacts) => VerdictFacts> = {
  resume_platform: (facts) => ({ ...facts, app: { ...facts.app, isPlatformPaused: false } }),
  resume_app: (facts) => ({ ...facts, app: { ...facts.app, isPaused: false } }),
  unban_client: (facts) => ({ ...facts, endUser: facts.endUser && { ...facts.endUser, isBanned: false } }),
  unban_license: (facts) => ({ ...facts, key: facts.key && { ...facts.key, isBanned: false } }),
  resume_client: (facts) => ({ ...facts, endUser: facts.endUser && { ...facts.endUser, isPaused: false } }),
  extend_client: (facts) => ({ ...facts, expiresAt: now + 1 }),
  extend_license: (facts) => ({ ...facts, expiresAt: now + 1 }),
  unblock: (facts) => ({ ...facts, caller: { ...facts.caller, blocked: null } }),
  reset_hwid: (facts) => ({ ...facts, device: { ...facts.device, used: 0 } }),
  allow_address: (facts) => ({ ...facts, caller: { ...facts.caller, isRefusedVpn: false } }),
}

const rounds = { numRuns: 10_000 }

test('the explanation of a stored refusal equals its verdict in 10,000 random states', () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const verdict = appVerdict(facts.app) ?? userVerdict(facts)?.code ?? null
      const stored = JSON.parse(JSON.stringify(toSituation(facts))) as Situation
      const state = toState(stored, null)
      expect(verdict).toBe(verdictOf(facts))
      expect(state.code).toBe(verdict)
      expect(state.checks.map(({ code }) => code)).toEqual(allGuards.map(({ code }) => code))
    }),
    rounds,
  )
})

test('the offered fix removes the reason that it is offered for, in 10,000 random states', () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const code = verdictOf(facts)
      fc.pre(code !== null && (facts.endUser !== null || facts.key !== null))
      if (code === null) return
      const situation = toSituation(facts)
      const detail = {}
      const { fix } = explain({
        code,
        appId: 'app_1',
        subject: null,
        address: '203.0.113.7',
        situation,
        detail,
      })
      if (!fix) {
        // No click helps a program that is too new, or sends no id where one is required.
        if (code === 'notActivated' || code === 'updatesEnded') return
        expect(code).toBe('hwidMismatch')
        expect((facts.app.requireHwid && !facts.device.isSent) || facts.endUser === null).toBe(true)
        return
      }
      expect(verdictOf(applied[fix.action]!(facts))).not.toBe(code)
    }),
    rounds,
  )
})
