import { z } from 'zod'
import { limits, versionPattern } from './constants.ts'
import { isEmailAddress, withPlainDomain } from './email-address.ts'
import { plainIssue } from './plain-issues.ts'

// Every schema is made after this module loads, and checked in forms and on the server.
z.config({ customError: plainIssue })

const control = /\p{Cc}|\p{Cs}/u

/** Trimmed text without control characters or lone surrogates. */
export const text = (min: number, max: number, name: string) =>
  z
    .string()
    .trim()
    .min(min, min === 1 ? `${name} is required` : `${name} must have at least ${min} characters`)
    .max(max, `${name} can have at most ${max} characters`)
    .refine((value) => !control.test(value), `${name} contains characters that are not allowed`)

/**
 * An address that mail can reach, as it was typed, in any script: for other doors than this one there is no rule. Characters
 * that look the same are made one, so that no address is taken for another account's.
 */
export const email = z
  .string()
  .trim()
  .normalize('NFKC')
  .max(254, 'Email can have at most 254 characters')
  .refine(isEmailAddress, 'Please enter a valid email address')
  .overwrite(withPlainDomain)
  .meta({ format: 'email' })

export const password = z
  .string()
  .min(limits.passwordMin, `Password must have at least ${limits.passwordMin} characters`)
  .max(limits.passwordMax, `Password can have at most ${limits.passwordMax} characters`)

/** The name of a person with an account. */
export const personName = text(1, 100, 'Name')

/** A password at sign-in: no rule except a length limit against abuse. */
export const signInPassword = z.string().min(1, 'Password is required').max(1000, 'Password is too long')

/** A password of a reseller at sign-in: spaces around it do not count. */
export const trimmed = <T extends z.ZodType<string, string>>(schema: T) =>
  z.string().trim().max(1000, 'Password is too long').pipe(schema)

/** The secret of a mailed link for choosing a new password. */
export const resetToken = z.string().min(1, 'Token is required').max(200, 'Token is too long')

/** An ISO 8601 date-time with any offset, or a bare date, which means the end of that UTC day. */
export const instant = z.union([z.iso.datetime({ offset: true }).max(40), z.iso.date().max(10)], {
  error: 'Must be an ISO 8601 date or date-time',
})

/** A point in time in a response: ISO 8601, UTC, with milliseconds. */
export const isoTime = z.iso.datetime()

/** Links a customer; another text with an @ is no `_id`. */
export const customerLink = z
  .string()
  .trim()
  .min(1)
  .max(254, 'Customer can have at most 254 characters')
  .refine(
    (value) => !value.includes('@') || email.safeParse(value).success,
    'Please enter a valid email address',
  )
  .nullable()
  .optional()
  .describe(
    'the `_id` of a customer, or an e-mail address, which finds or adds its customer; null for none. Needs `clients:write`',
  )

/** The `_id` of an object; for an app also its 8-character `appId`. */
export const id = z.string().min(1).max(64)
export const idParams = z.object({ id })

/** An end user, with the name that people know it by. */
export const userRef = z.strictObject({
  _id: z.string(),
  username: z.string(),
  name: z
    .string()
    .nullable()
    .optional()
    .describe(
      'in lists and of one license: what to call the end user; of one that signs in with its key the address of its customer, its own one, else the name of its device, or null',
    ),
})

/** An app as part of other objects. */
export const appRef = z.strictObject({ _id: z.string(), name: z.string(), appId: z.string() })

/** Filters by an app's `_id` or `appId`. */
export const appFilter = id.optional()

/** Filters by the `_id` of a license type, and of a reseller, which requires `resellers:read`. */
export const originFilters = { type: id.optional(), reseller: id.optional() }

/** The ids of all rows that match the filters of a list, newest first; the first ones if there are more. */
export const matchingIds = z.strictObject({
  ids: z.array(z.string()).max(limits.searchCountMax),
  capped: z.boolean().describe(`true if more than ${limits.searchCountMax} match`),
})

const page = z.coerce.number().int().min(1).max(1_000_000_000).default(1)
const limit = z.coerce.number().int().min(1).max(limits.pageSizeMax).default(limits.pageSizeDefault)
export const pageQuery = z.object({ page, limit })

/** Where a searched text was found in a row of a list. */
export const searchMatch = z.strictObject({
  field: z.enum([
    'key',
    'note',
    'username',
    'email',
    'reseller',
    'type',
    'device',
    'customer',
    'order',
    'reference',
  ]),
  text: z.string(),
})
export type SearchMatch = z.output<typeof searchMatch>

/** A row of a list, with what the search found. */
export const matched = {
  match: searchMatch.optional(),
}

export const search = z
  .string()
  .trim()
  .max(limits.searchMax, `A search can have at most ${limits.searchMax} characters`)
  .optional()

/** Whether a call searches for a text, which may have a license key in it. */
export const searchesText = ({ query }: { query?: z.ZodType }): boolean =>
  query instanceof z.ZodObject && query.shape.search === search

/** Whether a banned license has, beside `banned`, the status that it would have without the ban. */
export const bans = z
  .enum(['apart'])
  .optional()
  .describe(
    'apart: a banned license is banned alone, as its `status` says; without it the other statuses and counts ignore bans',
  )

const names = ['app_a_to_z', 'app_z_to_a', 'user_a_to_z', 'user_z_to_a'] as const

/** Sorts by creation time, by end (what never ends has the last one), or by the name of the app or the end user. */
export const sort = z
  .enum(['newest', 'oldest', 'expires_first', 'expires_last', ...names])
  .default('newest')
  .describe(
    `by names: the newest of each first, and of more than ${limits.searchCountMax} the first ones; by users: as the console names them, those without a name last, and at most ${limits.searchCountMax} rows; not with \`search\`, \`type\` and \`reseller\``,
  )

/** For lists that are short in most accounts: the largest page by default. */
export const fullPageQuery = z.object({ page, limit: limit.unwrap().default(limits.pageSizeMax) })

/** The format of an exported list, and the media types of its file. */
export const exportFormat = z.enum(['csv', 'json']).default('csv')
export const exportTypes = ['text/csv', 'application/json'] as const

export const pagination = z.strictObject({
  page: z.int(),
  limit: z.int(),
  total: z.int(),
  pages: z.int(),
  capped: z.boolean().optional().describe('true if a search has more hits than are counted'),
})

/** Why an owner bans or blocks; shown to the end user where the app's text contains `{reason}`. */
export const banReason = text(0, 200, 'Reason')

export const hwid = z
  .string()
  .max(limits.hwidMax, `Hardware id can have at most ${limits.hwidMax} characters`)
export const username = text(limits.usernameMin, limits.usernameMax, 'Username')

/** An amount in the currency's smallest unit (paise), and formatted. */
export const price = z.strictObject({
  amount: z.int(),
  currency: z.string().length(3),
  priceFormatted: z.string(),
})

/** The length of one paid period: 30 or 365 days. */
export const planDuration = z.enum(['monthly', 'yearly'])

export const none = z.strictObject({})

export type Bans = z.output<typeof bans>
export type Price = z.output<typeof price>
export type PlanDuration = z.output<typeof planDuration>

/** What the caller saw, for edits that must not overwrite those of others. */
export const seenValues = <T extends z.ZodRawShape>(values: T) =>
  z
    .strictObject(values)
    .partial()
    .optional()
    .describe('what the caller saw; nothing is saved if it has changed, unless to what the call wants')

/** A version of a vendor's program. */
export const version = z
  .string()
  .trim()
  .max(limits.versionMax, { error: `Version can have at most ${limits.versionMax} characters`, abort: true })
  .regex(versionPattern, 'Version must be in format x.y.z (e.g., 1.0.0)')
