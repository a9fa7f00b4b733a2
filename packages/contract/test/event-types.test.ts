import { expect, test } from 'vitest'
import { type ActionName, actions } from '../src/actions.ts'
import { eventFacts, eventNames, isEventName } from '../src/event-types.ts'
import { isLogged } from '../src/logged-actions.ts'
import { permissions } from '../src/permissions.ts'

const names = Object.keys(actions) as ActionName[]

test('delivers what the audit log stores of a vendor, but for slices and notes of resellers', () => {
  const belongToNoVendor = /^(coupon\.|account\.deleted|vendor\.deleted)/
  const untold = /\.slice_|^release\.notified$|^license\.noted$/
  const expected = names.filter(
    (name) => isLogged(name, 'owner') && !untold.test(name) && !belongToNoVendor.test(name),
  )
  expect(new Set(eventNames)).toEqual(new Set([...expected, 'program.refused']))
  expect(names.filter((name) => isEventName(name) !== expected.includes(name))).toEqual([])
})

test('names an existing permission for each event', () => {
  for (const name of eventNames) expect(permissions).toContain(eventFacts(name).permission)
  expect(eventFacts('licenses.banned')).toEqual({ noun: 'licenses', permission: 'licenses:read' })
  expect(eventFacts('program.refused').permission).toBe('clients:read')
  expect(eventFacts('webhook.test').permission).toBe('webhooks:read')
})

test.each(['constructor', 'toString', '', '*', 'webhook.test'])('%j is no event', (name) => {
  expect(isEventName(name)).toBe(false)
})
