import type { ShopOrder } from '@keyward/contract'
import { expect, test } from 'vitest'
import { reasonOf } from './order-columns.tsx'

const license = { _id: 'lic_1', key: 'AAAAA' }
const order = {
  state: 'fulfilled',
  reason: null,
  lines: [{ product: 'shirt', quantity: 1 }],
  licenses: [] as ShopOrder['licenses'],
  renewed: null,
  deletedLicenses: 0,
} as ShopOrder

test.each<[string, Partial<ShopOrder>, string]>([
  ['a product without a license type', {}, 'No license for shirt'],
  ['a license that is there', { licenses: [license] }, ''],
  ['a license that was deleted', { deletedLicenses: 1 }, 'Its license was deleted'],
  ['the first of two', { licenses: [license], deletedLicenses: 1 }, '1 of 2 licenses deleted'],
  ['a new one beside a deleted renewal', { renewed: license, deletedLicenses: 1 }, '1 of 2 licenses deleted'],
  ['all of several', { deletedLicenses: 3 }, 'All its licenses were deleted'],
  ['what a waiting order needs first', { reason: 'No address', deletedLicenses: 1 }, 'No address'],
])('an order says of %s what is true', (_of, fields, reason) => {
  expect(reasonOf({ ...order, ...fields })).toBe(reason)
})
