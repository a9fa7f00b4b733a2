import { describe, expect, test } from 'vitest'
import { sha256 } from '../../core/crypto.ts'
import { appVerdict, isOlder, type UserGate, userVerdict } from './program.rules.ts'

const now = 1_000_000
const bound = sha256('pc-1')
const fine: UserGate = { userBanned: false, keyBanned: false, expiresAt: now + 1, boundHwid: null }
const presented = { lockOn: true, hwid: null }

test.each([
  [{ platform_paused: 0, app_paused: 0 }, undefined],
  [{ platform_paused: 0, app_paused: 1 }, 'pausedApp'],
  [{ platform_paused: 1, app_paused: 0 }, 'appDisabled'],
  [{ platform_paused: 1, app_paused: 1 }, 'appDisabled'],
] as const)('an app with %j is told %s', (app, verdict) => {
  expect(appVerdict(app)).toBe(verdict)
})

describe('of all reasons against a user the first in the order is told', () => {
  const reasons: [string, Partial<UserGate>][] = [
    ['userBanned', { userBanned: true }],
    ['keyBanned', { keyBanned: true }],
    ['noActiveSubs', { expiresAt: now }],
    ['hwidMismatch', { boundHwid: bound }],
  ]
  const combinations = Array.from({ length: 2 ** reasons.length }, (_, bits) =>
    reasons.filter((_reason, at) => bits & (1 << at)),
  )
  test.each(
    combinations.map((chosen) => [chosen.map(([code]) => code).join(' and ') || 'nothing', chosen] as const),
  )('%s', (_what, chosen) => {
    const gate = Object.assign({}, fine, ...chosen.map(([, part]) => part)) as UserGate
    expect(userVerdict(gate, presented, now)).toBe(chosen[0]?.[0])
  })
})

test.each([
  ['nothing bound, nothing brought', null, null, true, true],
  ['nothing bound, something brought', null, bound, true, true],
  ['bound, the same brought', bound, bound, true, true],
  ['bound, nothing brought', bound, null, true, false],
  ['bound, another brought', bound, sha256('pc-2'), true, false],
  ['bound, an empty text brought', bound, '', true, false],
  ['bound, a beginning brought', bound, bound.slice(0, 32), true, false],
  ['bound, the lock off', bound, sha256('pc-2'), false, true],
  ['bound, nothing brought, the lock off', bound, null, false, true],
])('a lock with %s', (_what, boundHwid, hwid, lockOn, passes) => {
  const verdict = userVerdict({ ...fine, boundHwid }, { lockOn, hwid }, now)
  expect(verdict).toBe(passes ? undefined : 'hwidMismatch')
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
