import { z } from 'zod'
import { limits } from './constants.ts'
import { lastRefusal } from './customer-page.ts'
import { endpoint } from './endpoint.ts'
import { licenseType } from './license-types.ts'
import { licenseNote } from './licenses.ts'
import { orSecondFactor, secondFactorCalls } from './second-factor.ts'
import {
  email,
  exportFormat,
  exportTypes,
  fullPageQuery,
  id,
  idParams,
  instant,
  isoTime,
  none,
  pagination,
  password,
  resetToken,
  search,
  seenValues,
  signInPassword,
  trimmed,
} from './shared.ts'
import { ending, licenseTerms } from './terms.ts'

const appName = z.strictObject({ name: z.string() })

/** The signed-in reseller. The app's name is all it contains of the owner. */
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

/** Whose licenses a reseller sells. */
const portalVendor = z.strictObject({
  name: z.string().describe('the name in its profile, else that of the app'),
  logo: z.string().nullable().describe('a PNG or JPEG as a `data:` address'),
  support: z.string().nullable().describe('an email address or an https link'),
  shop: z.string().nullable().describe('where people buy, as `buyUrl` of the app'),
})

/** A license as its reseller sees it; `date_expired` is an alias of `expiresAt`. */
export const portalLicense = z.strictObject({
  _id: z.string(),
  key: z.string(),
  app: appName,
  status: z.enum(['ACTIVE', 'EXPIRED']),
  used: z.boolean(),
  banned: z.boolean().describe('whether the owner has banned the license'),
  usedBy: z.string().nullable().describe('username; the key of the license if its user signs in with a key'),
  note: z.string().nullable().describe('what the reseller wrote on it, which the owner does not see'),
  createdAt: isoTime,
  ...ending,
  date_expired: isoTime.nullable(),
  ...licenseTerms,
})

/** A license type as the app's resellers see it: how the vendor sells again is not among it. */
export const portalLicenseType = licenseType.omit({
  resellable: true,
  createdAt: true,
  buyUrl: true,
  renewUrl: true,
  upgrades: true,
  fallbackAfterMonths: true,
})

/** Counts of a reseller's licenses: `active` not expired, `available` neither used nor expired, `remaining` of the quota. */
export const portalStats = z.strictObject({
  total: z.int(),
  active: z.int(),
  used: z.int(),
  available: z.int(),
  expired: z.int(),
  remaining: z.int(),
})

const oneLicense = z.strictObject({ license: portalLicense })
const oneReseller = z.strictObject({ reseller: portalReseller })
const noteField = { note: licenseNote.nullable() }
const session = oneReseller.extend({ token: z.string() })
const tag = 'Reseller portal'

export const portal = {
  login: endpoint({
    method: 'POST',
    path: '/resellers/auth/login',
    access: 'public',
    hashes: true,
    tag,
    summary: 'Sign in as a reseller',
    body: z.strictObject({ email, password: trimmed(signInPassword) }),
    data: orSecondFactor(session),
    errors: ['invalid_credentials', 'vendor_disabled', 'rate_limited', 'busy'],
  }),
  forgotPassword: endpoint({
    method: 'POST',
    path: '/resellers/auth/forgot-password',
    access: 'public',
    tag,
    summary:
      'Mail a link for choosing a new password; the response is the same whether or not the account exists',
    body: z.strictObject({ email }),
    data: none,
    errors: ['mail_off', 'rate_limited', 'busy'],
  }),
  resetPassword: endpoint({
    method: 'POST',
    path: '/resellers/auth/reset-password',
    access: 'public',
    hashes: true,
    tag,
    summary: 'Choose a new password with the token of a mailed link; ends all sessions and starts a new one',
    body: z.strictObject({ token: resetToken, password: trimmed(password) }),
    data: orSecondFactor(session),
    errors: ['reset_link_invalid', 'vendor_disabled', 'rate_limited', 'busy'],
  }),
  logout: endpoint({
    method: 'POST',
    path: '/resellers/auth/logout',
    access: 'reseller',
    unbudgeted: 'own account',
    tag,
    summary: 'Revoke the token of this request',
    body: none,
    data: none,
  }),
  vendor: endpoint({
    method: 'GET',
    path: '/resellers/auth/vendor',
    access: 'reseller',
    tag,
    summary: 'Get the profile of the app’s vendor',
    data: portalVendor,
  }),
  profile: endpoint({
    method: 'GET',
    path: '/resellers/auth/profile',
    access: 'reseller',
    tag,
    summary: 'Get the signed-in reseller',
    data: oneReseller,
  }),
  listLicenses: endpoint({
    method: 'GET',
    path: '/resellers/auth/licenses',
    access: 'reseller',
    tag,
    summary: 'List the licenses of this reseller, newest first; search matches keys, usernames and notes',
    query: fullPageQuery.extend({ search }),
    data: z.strictObject({
      licenses: z.array(portalLicense),
      stats: portalStats,
      pagination,
    }),
  }),
  getLicense: endpoint({
    method: 'GET',
    path: '/resellers/auth/licenses/:id',
    access: 'reseller',
    tag,
    summary: 'Get a license of this reseller, with the devices of its end user and why it was refused last',
    params: idParams,
    data: oneLicense.extend({
      devices: z
        .strictObject({ used: z.int(), limit: z.int() })
        .nullable()
        .describe('places of its end user, -1 for unlimited; null before the first use'),
      refusal: lastRefusal
        .nullable()
        .describe(`the last one within ${limits.customerRefusalDays} days, without the owner's reason`),
    }),
    errors: ['not_found'],
  }),
  updateLicense: endpoint({
    method: 'PUT',
    path: '/resellers/auth/licenses/:id',
    access: 'reseller',
    tag,
    summary: 'Change the note on a license of this reseller',
    params: idParams,
    body: z.strictObject({ ...noteField, seen: seenValues(noteField) }),
    data: oneLicense,
    errors: ['license_changed', 'not_found'],
  }),
  exportLicenses: endpoint({
    method: 'GET',
    path: '/resellers/auth/licenses/export',
    access: 'reseller',
    job: true,
    tag,
    summary: 'Export the licenses of this reseller that match the search as a file, newest first',
    query: z.object({ search, format: exportFormat }),
    data: none,
    file: exportTypes,
  }),
  listLicenseTypes: endpoint({
    method: 'GET',
    path: '/resellers/auth/license-types',
    access: 'reseller',
    tag,
    summary: 'List the license types that this reseller may sell, oldest first',
    data: z.strictObject({ licenseTypes: z.array(portalLicenseType) }),
  }),
  createLicenses: endpoint({
    method: 'POST',
    path: '/resellers/auth/licenses',
    access: 'reseller',
    tag,
    summary:
      'Generate licenses within the quota until a date or of a license type, all or none; date_expired is an alias of expiresAt',
    body: z
      .strictObject({
        count: z.int().min(1).max(limits.resellerLicensesMax).default(1),
        expiresAt: instant.optional(),
        date_expired: instant.optional(),
        type: id.optional().describe('the `_id` of a license type that resellers may sell'),
        note: licenseNote.optional().describe('on each of them'),
      })
      .refine(
        ({ expiresAt, date_expired, type }) =>
          (expiresAt !== undefined || date_expired !== undefined) !== (type !== undefined),
        { path: ['expiresAt'], message: 'An expiration date is required, or else a license type' },
      )
      .refine(({ expiresAt, date_expired }) => !expiresAt || !date_expired || expiresAt === date_expired, {
        path: ['date_expired'],
        message: 'Must equal expiresAt, or be omitted',
      }),
    data: z.strictObject({ licenses: z.array(portalLicense), stats: portalStats }),
    status: 201,
    errors: ['quota_reached', 'plan_limit_reached', 'not_found'],
  }),
  removeLicenses: endpoint({
    method: 'DELETE',
    path: '/resellers/auth/licenses',
    access: 'reseller',
    job: true,
    tag,
    summary: 'Delete all licenses of this reseller; end users who used them stay, but expire immediately',
    data: z.strictObject({ deletedCount: z.int() }),
  }),
}

export const portalSecondFactor = secondFactorCalls('/resellers/auth', session)

export type PortalReseller = z.output<typeof portalReseller>
export type PortalLicense = z.output<typeof portalLicense>
export type PortalLicenseType = z.output<typeof portalLicenseType>
export type PortalStats = z.output<typeof portalStats>
export type PortalVendor = z.output<typeof portalVendor>
