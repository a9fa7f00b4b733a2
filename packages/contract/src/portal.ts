import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import {
  email,
  fullPageQuery,
  givenPassword,
  instant,
  isoTime,
  none,
  pagination,
  password,
  resetToken,
  trimmed,
} from './shared.ts'

const appName = z.strictObject({ name: z.string() })

/** The signed-in reseller; of the owner it learns the name of the app and nothing else. */
export const portalReseller = z.strictObject({
  _id: z.string(),
  email: z.string(),
  app_id: appName,
  allowed_license_keys: z.int(),
  created_licenses: z.int(),
  remaining_licenses: z.int(),
  active: z.boolean(),
  createdAt: isoTime,
  role: z.literal('Reseller'),
})

/** A license as the reseller who made it sees it; `date_expired` is another name of `expiresAt`. */
export const portalLicense = z.strictObject({
  _id: z.string(),
  key: z.string(),
  app: appName,
  status: z.enum(['ACTIVE', 'EXPIRED']),
  used: z.boolean(),
  usedBy: z.string().nullable().describe('user name'),
  createdAt: isoTime,
  expiresAt: isoTime,
  date_expired: isoTime,
})

/** Counts of a reseller's licenses: `active` not expired, `available` neither used nor expired, `remaining` still to make. */
export const portalStats = z.strictObject({
  total: z.int(),
  active: z.int(),
  used: z.int(),
  available: z.int(),
  expired: z.int(),
  remaining: z.int(),
})

const oneReseller = z.strictObject({ reseller: portalReseller })
const tag = 'Reseller portal'

export const portal = {
  login: endpoint({
    method: 'POST',
    path: '/resellers/auth/login',
    access: 'public',
    tag,
    summary: 'Sign in as a reseller',
    body: z.strictObject({ email, password: trimmed(givenPassword) }),
    data: oneReseller.extend({ token: z.string() }),
    errors: ['invalid_credentials', 'rate_limited', 'busy'],
  }),
  forgotPassword: endpoint({
    method: 'POST',
    path: '/resellers/auth/forgot-password',
    access: 'public',
    tag,
    summary: 'Mail a link to choose a new password; the answer is the same whether or not the account exists',
    body: z.strictObject({ email }),
    data: none,
    errors: ['mail_off', 'rate_limited', 'busy'],
  }),
  resetPassword: endpoint({
    method: 'POST',
    path: '/resellers/auth/reset-password',
    access: 'public',
    tag,
    summary: 'Choose a new password with the token of a mailed link; every session ends and a new one begins',
    body: z.strictObject({ token: resetToken, password: trimmed(password) }),
    data: oneReseller.extend({ token: z.string() }),
    errors: ['reset_link_invalid', 'rate_limited', 'busy'],
  }),
  logout: endpoint({
    method: 'POST',
    path: '/resellers/auth/logout',
    access: 'reseller',
    tag,
    summary: 'Revoke the token that this call came with',
    body: none,
    data: none,
  }),
  profile: endpoint({
    method: 'GET',
    path: '/resellers/auth/profile',
    access: 'reseller',
    tag,
    summary: 'The signed-in reseller',
    data: oneReseller,
  }),
  listLicenses: endpoint({
    method: 'GET',
    path: '/resellers/auth/licenses',
    access: 'reseller',
    tag,
    summary: 'The licenses that this reseller made, newest first',
    query: fullPageQuery,
    data: z.strictObject({
      licenses: z.array(portalLicense),
      stats: portalStats,
      pagination,
    }),
  }),
  createLicenses: endpoint({
    method: 'POST',
    path: '/resellers/auth/licenses',
    access: 'reseller',
    tag,
    summary: 'Generate licenses within the quota, all or none; date_expired is another name of expiresAt',
    body: z
      .strictObject({
        count: z.int().min(1).max(limits.resellerLicensesMax).default(1),
        expiresAt: instant.optional(),
        date_expired: instant.optional(),
      })
      .refine((body) => body.expiresAt !== undefined || body.date_expired !== undefined, {
        path: ['expiresAt'],
        message: 'An expiration date is required',
      })
      .refine(({ expiresAt, date_expired }) => !expiresAt || !date_expired || expiresAt === date_expired, {
        path: ['date_expired'],
        message: 'Must be the same as expiresAt, or left out',
      }),
    data: z.strictObject({ licenses: z.array(portalLicense), stats: portalStats }),
    status: 201,
    errors: ['quota_reached', 'plan_limit_reached'],
  }),
  removeLicenses: endpoint({
    method: 'DELETE',
    path: '/resellers/auth/licenses',
    access: 'reseller',
    job: true,
    tag,
    summary:
      'Delete all licenses that this reseller made; end users who used them stay, with an expiry of now',
    data: z.strictObject({ deletedCount: z.int() }),
  }),
}

export type PortalReseller = z.output<typeof portalReseller>
export type PortalLicense = z.output<typeof portalLicense>
export type PortalStats = z.output<typeof portalStats>
