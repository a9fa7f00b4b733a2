import { limits, type Shop, type ShopProduct, shopKinds } from '@keyward/contract'
import { z } from 'zod'
import { kindFacts } from './kinds.ts'

/** The choice of a product that needs no license. */
export const noLicense = 'none'

export interface ProductRow {
  product: string
  /** The id of a license type; empty until one is chosen. */
  type: string
  quantity: string
}

const text = (name: string, max: number) =>
  z.string().trim().min(1, `${name} is required`).max(max, `${name} can have at most ${max} characters`)
const secretOf = (name: string) => text(name, limits.shopSecretMax)

const quantityFault = `A whole number from 1 to ${limits.orderLicensesMax}`
const products = z
  .array(
    z.object({
      product: text('Product', limits.shopTextMax),
      type: z.string().min(1, 'Choose a license type'),
      quantity: z
        .string()
        .refine(
          (value) => /^\d{1,9}$/.test(value) && +value >= 1 && +value <= limits.orderLicensesMax,
          quantityFault,
        ),
    }),
  )
  .superRefine((rows, context) => {
    for (const [at, { product }] of rows.entries()) {
      if (rows.findIndex((row) => row.product === product) < at) {
        context.addIssue({
          code: 'custom',
          path: [at, 'product'],
          message: 'A product can be listed once only',
        })
      }
    }
  })

const name = text('Name', 60)

function needsApiKey(kind: string): boolean {
  const { apiKey } = kindFacts(kind)
  return apiKey !== undefined && !apiKey.isOptional
}

export const newShopSchema = z
  .object({ kind: z.enum(shopKinds), name, secret: secretOf('Secret'), apiKey: z.string().trim(), products })
  .refine(({ kind, apiKey }) => apiKey !== '' || !needsApiKey(kind), {
    path: ['apiKey'],
    message: 'API key is required',
  })

export const editShopSchema = z.object({ name, products })

export const secretsSchema = z
  .object({ secret: z.string().trim().max(limits.shopSecretMax), apiKey: z.string().trim() })
  .refine(({ secret, apiKey }) => secret !== '' || apiKey !== '', {
    path: ['secret'],
    message: 'Enter what you want to replace',
  })

export const emptyRow: ProductRow = { product: '', type: '', quantity: '1' }

export const toRows = ({ products }: Pick<Shop, 'products'>): ProductRow[] =>
  products.map(({ product, type, quantity }) => ({
    product,
    type: type ?? noLicense,
    quantity: String(quantity),
  }))

export const toProducts = (rows: readonly ProductRow[]): ShopProduct[] =>
  rows.map(({ product, type, quantity }) => ({
    product,
    type: type === noLicense ? null : type,
    quantity: Number(quantity),
  }))

/** A secret in the form of Standard Webhooks. */
export const generateSecret = () =>
  `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`
