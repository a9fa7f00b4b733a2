import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { devices, features, termsFields } from './license-terms.ts'
import {
  appFilter,
  appRef,
  banReason,
  id,
  idParams,
  instant,
  isoTime,
  none,
  pageQuery,
  pagination,
  search,
  seenValues,
  sort,
  text,
} from './shared.ts'
import { duration, ending, licenseTerms } from './terms.ts'

/** The status of a license: Banned overrides Expired, Active (used) and Unused. */
export const licenseStatus = z.enum(['unused', 'active', 'expired', 'banned'])

export const license = z.strictObject({
  _id: z.string(),
  key: z.string(),
  app: appRef,
  status: licenseStatus,
  used: z.boolean(),
  usedBy: z.strictObject({ _id: z.string(), username: z.string() }).nullable(),
  usedAt: isoTime.nullable(),
  added: z
    .boolean()
    .describe('whether `upgrade` added it to its end user: deleting or banning it takes back that time'),
  banned: z.boolean(),
  banReason: z.string().nullable(),
  note: z.string().nullable(),
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

/** Counts over the app filter. Like the status filters except `banned`, they ignore bans. */
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

/** Filters of lists and exports of licenses; search matches keys, notes and usernames. */
export const licenseFilter = z.object({
  app: appFilter,
  status: licenseStatus.optional(),
  search,
})

const one = z.strictObject({ license })
const tag = 'Licenses'

const editable = {
  expiresAt: instant.nullable().optional().describe('null: never expires'),
  devices: devices.optional(),
  features: features.optional(),
  note: licenseNote.nullable().optional(),
}

export const licenses = {
  list: endpoint({
    method: 'GET',
    path: '/licenses',
    access: 'owner',
    permission: 'licenses:read',
    tag,
    summary: 'List licenses, newest first by default; search matches keys, notes and usernames',
    query: pageQuery.extend({ ...licenseFilter.shape, sort }),
    data: z.strictObject({ licenses: z.array(license), pagination, stats: licenseStats }),
  }),
  get: endpoint({
    method: 'GET',
    path: '/licenses/:id',
    access: 'owner',
    permission: 'licenses:read',
    tag,
    summary: 'Get a license',
    params: idParams,
    data: one,
  }),
  create: endpoint({
    method: 'POST',
    path: '/licenses',
    access: 'owner',
    permission: 'licenses:write',
    tag,
    summary: 'Generate 1 to 100 licenses, all or none',
    body: z
      .strictObject({
        app: id,
        expiresAt: instant.nullable().optional().describe('null: never expires'),
        duration: duration.optional().describe('from the first use'),
        type: id.optional().describe('the `_id` of a license type of the app'),
        count: z.int().min(1).max(limits.generateMax).default(1),
        key: customKey.optional(),
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
    errors: ['plan_limit_reached', 'custom_keys_off', 'key_taken'],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/licenses/:id',
    access: 'owner',
    permission: 'licenses:write',
    tag,
    summary:
      'Change the expiry of a license and of its end user, its devices, features or note; omitted fields stay unchanged',
    params: idParams,
    body: z
      .strictObject({
        ...editable,
        seen: seenValues({ ...editable, term: licenseTerms.term }),
      })
      .refine(({ seen: _, ...changes }) => Object.keys(changes).length > 0, {
        path: ['expiresAt'],
        message: 'Nothing to change',
      }),
    bodyLimit: 32_768,
    data: one,
    errors: ['license_changed'],
  }),
  toggleBan: endpoint({
    method: 'PATCH',
    path: '/licenses/:id/toggle-ban',
    access: 'owner',
    permission: 'licenses:write',
    tag,
    summary: 'Ban or unban a license; the ban of an added key takes back its time until it is lifted',
    params: idParams,
    body: z.strictObject({
      is_banned: z.boolean().optional(),
      reason: banReason.optional().describe('replaces `{reason}` in the text that programs get'),
    }),
    data: one,
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
    confirm: 'with_factor',
    job: true,
    tag,
    summary: 'Delete all licenses, or all licenses of an app',
    // Strict, because a misspelt filter must not delete everything.
    query: z.strictObject({ app: appFilter }),
    data: z.strictObject({ deletedCount: z.int() }),
  }),
}

export type License = z.output<typeof license>
export type LicenseDetails = z.input<z.ZodObject<typeof licenseDetails>>
export type LicenseStatus = z.output<typeof licenseStatus>
