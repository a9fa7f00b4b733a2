import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { checkPassword } from '../../core/passwords/password-policy.ts'
import { forever, grantedPlanOf, limitOrNull, planLimits, planOf } from '../owners/plan.rules.ts'

const now = 1_000_000

test.each([
  [null, 'free', null],
  [now - 1, 'free', null],
  [now, 'free', null],
  [now + 1, 'premium', now + 1],
  [forever - 1, 'premium', forever - 1],
  [forever, 'premium', null],
] as const)('premium until %s means %s now, with the end %s', (premiumUntil, plan, until) => {
  expect(grantedPlanOf(premiumUntil, now)).toEqual({ plan, until })
  expect(planOf(premiumUntil, now, 'free')).toEqual({ plan, until })
  expect(planOf(premiumUntil, now, 'premium')).toEqual({ plan: 'premium', until: null })
})

test('the free plan has 2 apps with 30 licenses each and no resellers; premium has no limits', () => {
  expect(planLimits('free')).toEqual({ maxApps: 2, maxLicensesPerApp: 30, maxResellers: 0 })
  expect(planLimits('premium')).toEqual({ maxApps: -1, maxLicensesPerApp: -1, maxResellers: -1 })
  expect([limitOrNull(-1), limitOrNull(0), limitOrNull(30)]).toEqual([null, 0, 30])
})

describe('a password', () => {
  const check = (policy: 'basic' | 'strict', password: string) => () =>
    checkPassword({ config: readConfig({ PASSWORD_POLICY: policy }) }, 'password', password)

  test.each([
    ...['short', 'password', 'PASSWORD', 'Password1', 'aaaaaaaa', '12345678', 'iloveyou'],
    ...['butterfly', 'Manchester', 'scoobydoo', 'cowboys1', '1qazxsw2', 'ｐａｓｓｗｏｒｄ'],
  ])('%s is rejected by the strict policy and accepted by the basic one', (password) => {
    expect(check('strict', password)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
    expect(check('basic', password)).not.toThrow()
  })

  test('rejects at least the 10,000 most common ones', () => {
    const { dictionary } = createRequire(import.meta.url)('@zxcvbn-ts/language-common')
    const list: string[] = dictionary['passwords-common']
    expect(list.length).toBeGreaterThan(10_000)
    for (const password of list.slice(0, 10_000)) {
      expect(check('strict', password)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
    }
  })

  test.each(['correct horse', 'Tr0ub4dor&3x', 'пароль-получше'])(
    '%s passes the strict policy',
    (password) => {
      expect(check('strict', password)).not.toThrow()
    },
  )
})
