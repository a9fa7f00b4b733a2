import { endpoints, type LicenseType } from '@keyward/contract'
import { expect, test } from 'vitest'
import { toBody, toForm, typeSchema } from './license-type-fields.ts'

const type: LicenseType = {
  _id: 'lty_1',
  name: 'Pro',
  term: 'first_use',
  duration: { value: 1, unit: 'years' },
  graceDays: 7,
  devices: 3,
  seats: null,
  seatTimeoutSeconds: 600,
  features: ['pro', 'export'],
  updatesForDays: 365,
  trial: true,
  keyPrefix: 'PRO',
  resellable: true,
  buyUrl: null,
  renewUrl: null,
  upgrades: [],
  fallbackAfterMonths: null,
  createdAt: '2030-01-01T00:00:00.000Z',
}
const saved = (from: LicenseType | undefined, name = 'Pro') => {
  const body = toBody(typeSchema.parse({ ...toForm(from), name }))
  return endpoints.licenseTypes.create.body!.parse(body)
}

test.each<Partial<LicenseType>>([
  {},
  { devices: -1 },
  { devices: 1, seats: 20 },
  { term: 'forever', duration: null, updatesForDays: null, features: [], keyPrefix: null },
])('saves a type %j as it was', (change) => {
  const { _id, createdAt, ...fields } = { ...type, ...change }
  expect(saved({ ...type, ...change })).toEqual(fields)
})

test('starts with a license for one device and 30 days from first use', () => {
  expect(saved(undefined, 'Basic')).toMatchObject({
    name: 'Basic',
    term: 'first_use',
    duration: { value: 30, unit: 'days' },
    devices: 1,
    seats: null,
  })
})

test.each([{ name: '' }, { amount: 0 }, { graceDays: 91 }, { places: 0 }, { features: 'a b c a' }])(
  'refuses %o',
  (wrong) => {
    expect(typeSchema.safeParse({ ...toForm(type), ...wrong }).success).toBe(false)
  },
)

test.each([
  ['devices', 1000, true],
  ['devices', 1001, false],
  ['seats', 1001, true],
] as const)('accepts %s up to their own limit: %i', (bound, places, isAccepted) => {
  const { success, error } = typeSchema.safeParse({ ...toForm(undefined), name: 'Pro', bound, places })
  expect(success).toBe(isAccepted)
  if (!success) expect(error.issues[0]).toMatchObject({ path: ['places'] })
})
