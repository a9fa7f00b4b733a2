import { expect, test } from 'vitest'
import { createDefaults, createSchema, toRequest } from './create-form.ts'

const request = (values: Partial<typeof createDefaults>) =>
  toRequest(createSchema.parse({ ...createDefaults, name: 'Shop', ...values }))

test('sends the choices of the dialog as the call wants them', () => {
  expect(request({ expiry: 'never' })).toEqual({
    name: 'Shop',
    permissions: createDefaults.permissions,
    apps: null,
    expiresAt: null,
    networks: [],
  })
  const networks = ' 203.0.113.0/24\n\n2001:db8::/64, 198.51.100.1 '
  expect(request({ apps: ['app_1'], networks })).toMatchObject({
    apps: ['app_1'],
    networks: ['203.0.113.0/24', '2001:db8::/64', '198.51.100.1'],
  })
})

test('a key ends with a local day', () => {
  const end = new Date(request({ expiry: 'days-30' }).expiresAt as string)
  expect([end.getHours(), end.getMinutes(), end.getSeconds()]).toEqual([23, 59, 59])
  expect(end.getTime() - Date.now()).toBeGreaterThan(29.9 * 86_400_000)
  expect(new Date(request({ expiry: 'date', expiresAt: '2099-02-03' }).expiresAt as string).getDate()).toBe(3)
})

test.each([
  ['name', { name: ' ' }],
  ['permissions', { permissions: [] }],
  ['apps', { apps: [] }],
  ['expiresAt', { expiry: 'date', expiresAt: '2020-01-01' }],
  ['expiresAt', { expiry: 'date' }],
  ['networks', { networks: Array.from({ length: 51 }, (_, at) => `10.0.0.${at}`).join('\n') }],
])('reports a wrong %s', (path, values) => {
  const { error } = createSchema.safeParse({ ...createDefaults, name: 'Shop', ...values })
  expect(error?.issues.map((issue) => issue.path[0])).toEqual([path])
})
