import { endpoints } from '@keyward/contract'
import { expect, test } from 'vitest'
import { generateDefaults, generateSchema, hasMissingFields, toRequest } from './generate-form.ts'

const filled = { ...generateDefaults, app: 'app_1' }

test('the defaults with an app make a request that the contract accepts', () => {
  const request = toRequest(generateSchema.parse(filled))
  expect(request).toMatchObject({ app: 'app_1', count: 1 })
  expect(endpoints.licenses.create.body!.safeParse(request).success).toBe(true)
})

test('omits an empty note and an empty custom key', () => {
  const { note, key } = toRequest(generateSchema.parse(filled))
  expect([note, key]).toEqual([undefined, undefined])
})

test.each([
  { amount: 0 },
  { amount: 101 },
  { amount: 1.5 },
  { duration: 0 },
  { app: '' },
  { duration: 10_000_000 },
])('refuses %o', (wrong) => {
  expect(generateSchema.safeParse({ ...filled, ...wrong }).success).toBe(false)
})

test.each([
  ['first_use', { duration: { value: 30, unit: 'days' } }],
  ['forever', { expiresAt: null }],
  ['lty_1', { type: 'lty_1' }],
])('requests the term %s by one field', (term, field) => {
  const request = toRequest(generateSchema.parse({ ...filled, term }))
  expect(request).toMatchObject(field)
  expect(endpoints.licenses.create.body!.safeParse(request).success).toBe(true)
})

test('rejects a custom key for more than one license', () => {
  const result = generateSchema.safeParse({ ...filled, key: 'STUDIO-2027', amount: 2 })
  expect(result.error?.issues[0]?.path).toEqual(['key'])
  expect(generateSchema.safeParse({ ...filled, key: 'STUDIO-2027' }).success).toBe(true)
})

test('reports empty fields as missing, but not invalid ones', () => {
  expect(hasMissingFields(filled)).toBe(false)
  expect(hasMissingFields({ ...filled, app: '' })).toBe(true)
  expect(hasMissingFields({ ...filled, amount: Number.NaN })).toBe(true)
  expect(hasMissingFields({ ...filled, amount: 500 })).toBe(false)
})
