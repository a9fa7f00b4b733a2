import type { Webhook } from '@keyward/contract'
import { expect, test } from 'vitest'
import { toChanges, toDefaults, webhookSchema } from './webhook-form.ts'

const webhook: Webhook = {
  _id: 'whk_1',
  url: 'https://example.com',
  events: ['license.banned', 'license.unbanned'],
  apps: ['app_1'],
  format: 'standard',
  active: true,
  pauseReason: null,
  failingSince: null,
  createdAt: '2026-01-01T00:00:00.000Z',
}
const changes = (typed: object) =>
  toChanges(webhook, webhookSchema.parse({ ...toDefaults(webhook, true), ...typed }))

test('sends only what was changed, so that a hidden path is not replaced', () => {
  expect(changes({})).toEqual({})
  expect(changes({ events: ['license.unbanned', 'license.banned'] })).toEqual({})
  expect(changes({ events: ['*'], apps: null })).toEqual({ events: ['*'], apps: null })
  expect(changes({ url: ' https://example.com/hook ' })).toEqual({ url: 'https://example.com/hook' })
})

test.each([
  ['url', { url: 'example.com/hook' }],
  ['events', { events: [] }],
  ['apps', { apps: [] }],
])('reports a wrong %s', (path, typed) => {
  const { error } = webhookSchema.safeParse({ ...toDefaults(webhook, true), ...typed })
  expect(error?.issues.map((issue) => issue.path[0])).toEqual([path])
})

test('starts with all events, and with all apps for people who work on all', () => {
  expect(toDefaults(undefined, true)).toMatchObject({ events: ['*'], apps: null })
  expect(toDefaults(undefined, false)).toMatchObject({ apps: [] })
})
