import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { grants } from './grants.ts'
import { devices, features, termsFields } from './license-terms.ts'
import {
  appFilter,
  appRef,
  banReason,
  bans,
  customerLink,
  id,
  idParams,
  instant,
  isoTime,
  matched,
  matchingIds,
  none,
  originFilters,
  pageQuery,
  pagination,
  type SearchMatch,
  search,
  seenValues,
  sort,
  text,
  userRef,
} from './shared.ts'
import { orderMailStates, orderMailWaits } from './shops.ts'
import { duration, ending, licenseTerms } from './terms.ts'
import { undoRows } from './undo.ts'

/** The status of a license: Banned overrides Expired, Active (used) and Unused. */
export const licenseStatus = z.enum(['unused', 'active', 'expired', 'banned'])

/** A status of lists, or `expiring`. */
const listedStatus = z.enum([...licenseStatus.options, 'expiring'])

export const license = z.strictObject({
  _id: z.string(),
  key: z.string(),
  app: appRef,
  status: licenseStatus,
  used: z.boolean(),
  usedBy: userRef.nullable(),
  usedAt: isoTime.nullable(),
  added: z
    .boolean()
    .describe('whether `upgrade` added it to its end user: deleting or banning it takes back that time'),
  banned: z.boolean(),
  banReason: z.string().nullable(),
  note: z.string().nullable(),
  test: z
    .boolean()
    .describe('whether a test order of a shop created it: the setting `testLicenses` of the app can stop it'),
  customer: z.string().nullable().describe('the `_id` of the customer it was sold to'),
  buyReference: z
    .string()
    .describe('names the license in links to a shop and in orders; worth nothing but a payment for it'),
  mail: z
    .enum(orderMailStates)
    .describe(
      'whether the customer got its key by a mail of its own; `none` before one is asked for, and for the mail of an order',
    ),
  mailWaitsFor: z.enum(orderMailWaits).nullable().describe('why the mail waits, as for an order'),
  reseller: z.strictObject({ _id: z.string(), email: z.string() }).nullable(),
  createdAt: isoTime,
  ...ending,
  ...licenseTerms,
  ...termsFields,
  updatesUntil: isoTime
    .nullable()
    .describe('covers versions released until then; null for all versions, and before the first use'),
  type: z
    .strictObject({ _id: z.string(), name: z.string() })
    .nullable()
    .describe('the license type it was generated from, unless that was deleted'),
})

/** Counts over the app filter. Without `banned=apart` they ignore bans, but for `banned`. */
export const licenseStats = z.strictObject({
  total: z.int(),
  active: z.int(),
  unused: z.int(),
  expired: z.int(),
  banned: z.int(),
})

/** A key chosen by the owner: at least 6 letters and digits, plus `-` and `_`; no two keys of an app may read the same. */
export const customKey = z
  .string()
  .trim()
  .max(100, { error: 'A custom key has 6 to 100 letters, digits, - or _', abort: true })
  .regex(
    /^(?=(?:[_-]*[A-Za-z0-9]){6})[A-Za-z0-9][A-Za-z0-9_-]{5,99}$/,
    'A custom key has 6 to 100 letters, digits, - or _',
  )

/** The owner's note on a license. */
export const licenseNote = text(0, 200, 'Note')

/** The texts that an owner can attach to a new license; stored in columns of the same names. */
export const licenseDetails = { note: licenseNote.optional() }

/** Filters of lists and exports of licenses; search matches what people know of a sale. */
export const licenseFilter = z.object({
  app: appFilter,
  status: listedStatus
    .optional()
    .describe(`expiring: used ones that expire in the next ${limits.expiringSoonDays} days`),
  banned: bans,
  ...originFilters,
  search,
})

/** Also by the name of the type; licenses without one come last. */
const licenseSort = z
  .enum([...sort.unwrap().options, 'type_a_to_z', 'type_z_to_a'])
  .default('newest')
  .describe(sort.description ?? '')

const one = z.strictObject({ license })
const tag = 'Licenses'

const editable = {
  expiresAt: instant.nullable().optional().describe('null: never expires'),
  devices: devices.optional(),
  features: features.optional(),
  note: licenseNote.nullable().optional(),
}

const typeChange = {
  type: id
    .optional()
    .describe(
      'the `_id` of a license type of the app: the license takes its terms, and its devices stay bound',
    ),
  end: z
    .enum(['later', 'type', 'keep'])
    .optional()
    .describe(
      'with type: the later of the current end and that of the type (default), that of the type, or the current one',
    ),
  dryRun: z.boolean().optional().describe('with type: returns the license as it would be, and saves nothing'),
}

export const licenses = {
  list: endpoint({
    method: 'GET',
    path: '/licenses',
    access: 'owner',
    permission: 'licenses:read',
    tag,
    summary: 'List licenses, newest first by default; each row says what a search found',
    query: pageQuery.extend({ ...licenseFilter.shape, sort: licenseSort }),
    data: z.strictObject({ licenses: z.array(license.extend(matched)), pagination, stats: licenseStats }),
  }),
  ids: endpoint({
    method: 'GET',
    path: '/licenses/ids',
    access: 'owner',
    permission: 'licenses:read',
    tag,
    summary: `Get the ids of up to ${limits.searchCountMax} licenses that match the filters, newest first`,
    query: licenseFilter,
    data: matchingIds,
  }),
  get: endpoint({
    method: 'GET',
    path: '/licenses/:id',
    access: 'owner',
    permission: 'licenses:read',
    tag,
    summary: 'Get a license',
    params: idParams,
    data: z.strictObject({ license: license.extend({ grants }) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/licenses',
    access: 'owner',
    permission: 'licenses:write',
    tag,
    summary: 'Generate 1 to 100 licenses, all or none; for a reseller this also needs `resellers:read`',
    body: z
      .strictObject({
        app: id,
        expiresAt: instant.nullable().optional().describe('null: never expires'),
        duration: duration.optional().describe('from the first use'),
        type: id.optional().describe('the `_id` of a license type of the app'),
        reseller: id
          .optional()
          .describe(
            'the `_id` of a reseller of the app: the licenses become its own and count against its quota',
          ),
        count: z.int().min(1).max(limits.generateMax).default(1),
        key: customKey.optional(),
        customer: customerLink,
        mail: z
          .boolean()
          .optional()
          .describe(
            `mail all the keys to the customer, in its language, as soon as the licenses are stored; at most ${limits.newKeyMailsOfOnePerDay} such mails a day to one customer`,
          ),
        ...licenseDetails,
      })
      .refine((body) => body.key === undefined || body.count === 1, {
        path: ['count'],
        message: 'A custom key requires a count of 1',
      })
      .refine(
        ({ expiresAt, duration, type }) =>
          [expiresAt, duration, type].filter((field) => field !== undefined).length === 1,
        { path: ['expiresAt'], message: 'Exactly one of expiresAt, duration and type is required' },
      ),
    data: z.strictObject({ license, licenses: z.array(license) }),
    status: 201,
    errors: [
      'plan_limit_reached',
      'custom_keys_off',
      'key_taken',
      'quota_reached',
      'reseller_suspended',
      'no_address',
      'mail_off',
      'rate_limited',
    ],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/licenses/:id',
    access: 'owner',
    permission: 'licenses:write',
    dryRun: true,
    tag,
    summary:
      'Change the expiry of a license and of its end user, its devices, features, note, customer or type; omitted fields stay unchanged',
    params: idParams,
    body: z
      .strictObject({
        ...editable,
        customer: customerLink,
        ...typeChange,
        seen: seenValues({ ...editable, term: licenseTerms.term, type: id.nullable() }),
      })
      .refine(({ seen: _, end: _end, dryRun: _run, ...changes }) => Object.keys(changes).length > 0, {
        path: ['expiresAt'],
        message: 'Nothing to change',
      })
      .refine(
        ({ type, expiresAt, devices, features }) =>
          type === undefined || [expiresAt, devices, features].every((field) => field === undefined),
        {
          path: ['type'],
          message: 'A type sets the expiry, devices and features: change these in a call of their own',
        },
      )
      .refine(({ type, end, dryRun }) => type !== undefined || (end === undefined && dryRun === undefined), {
        path: ['type'],
        message: 'end and dryRun require a type',
      }),
    bodyLimit: 32_768,
    data: z.strictObject({
      license,
      undo: undoRows.describe(
        'what takes back a new expiry by `POST /licenses/bulk/undo`; empty without one',
      ),
    }),
    errors: ['license_changed'],
  }),
  toggleBan: endpoint({
    method: 'PATCH',
    path: '/licenses/:id/toggle-ban',
    access: 'owner',
    permission: { anyOf: ['licenses:write', 'clients:write'] },
    also: [
      {
        when: 'a ban, and to lift the ban of a refund or a dispute',
        permission: ['licenses:write'],
      },
    ],
    tag,
    summary: 'Ban or unban a license; the ban of an added key takes back its time until it is lifted',
    params: idParams,
    body: z.strictObject({
      is_banned: z.boolean().optional(),
      reason: banReason.optional().describe('replaces `{reason}` in the text that programs get'),
    }),
    data: one,
  }),
  mail: endpoint({
    method: 'POST',
    path: '/licenses/:id/mail',
    access: 'owner',
    permission: { anyOf: ['licenses:write', 'clients:write'] },
    tag,
    summary: `Mail the key of a license to its customer, at most ${limits.orderMailsPerDay} times a day`,
    params: idParams,
    data: one,
    errors: ['no_address', 'order_mail_queued', 'mail_off', 'rate_limited'],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/licenses/:id',
    access: 'owner',
    permission: 'licenses:delete',
    tag,
    summary:
      'Delete a license; an end user who used it stays, but expires immediately, or loses what an upgrade added',
    params: idParams,
    data: none,
  }),
  removeAll: endpoint({
    method: 'DELETE',
    path: '/licenses',
    access: 'owner',
    permission: 'licenses:delete',
    allApps: 'without app',
    appField: 'app',
    confirm: 'with_factor',
    job: true,
    tag,
    summary: 'Delete all licenses, or all licenses of an app',
    // Strict, because a misspelt filter must not delete everything.
    query: z.strictObject({ app: appFilter }),
    data: z.strictObject({ deletedCount: z.int() }),
  }),
}

export type ListedLicense = License & { match?: SearchMatch | undefined }
export type License = z.output<typeof license>
export type LicenseDetails = z.input<z.ZodObject<typeof licenseDetails>>
export type LicenseStatus = z.output<typeof licenseStatus>
export type ListedLicenseStatus = z.output<typeof listedStatus>
