import { type BodyInputOf, type endpoints, licenseDetails, limits } from '@keyward/contract'
import { licenses as licensesEndpoints } from '@keyward/contract/licenses'
import { z } from 'zod'
import { expiryAfter } from './expiry.ts'

const body = licensesEndpoints.create.body!.shape
const amountText = `Enter a whole number from 1 to ${limits.generateMax}`
const blank = z.literal('').transform(() => undefined)

/** What an app without license types sells. */
export const plainTerms = [
  { id: 'month', name: '1 month', months: 1 },
  { id: 'year', name: '1 year', months: 12 },
  { id: 'forever', name: 'Never expires', months: null },
] as const

export const newSaleSchema = z.object({
  app: body.app,
  customer: z.union([blank, body.customer.unwrap().unwrap()]),
  /** The `_id` of a license type, or one of the plain terms. */
  type: z.string().min(1, 'Choose what was sold'),
  amount: z.int(amountText).min(1, amountText).max(limits.generateMax, amountText),
  note: z.union([blank, licenseDetails.note]),
  mail: z.boolean(),
})

type Values = z.output<typeof newSaleSchema>

export function toSale({
  amount,
  type,
  mail,
  customer,
  ...rest
}: Values): BodyInputOf<typeof endpoints.licenses.create> {
  const sale = { ...rest, count: amount, ...(customer !== undefined && { customer, ...(mail && { mail }) }) }
  const plain = plainTerms.find(({ id }) => id === type)
  if (!plain) return { ...sale, type }
  return {
    ...sale,
    expiresAt: plain.months === null ? null : expiryAfter(plain.months, 'months')!.toISOString(),
  }
}
