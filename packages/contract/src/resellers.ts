import { z } from 'zod'
import { accountSession } from './account-sessions.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import {
  appFilter,
  email,
  fullPageQuery,
  id,
  idParams,
  isoTime,
  none,
  pagination,
  password,
  search,
  seenValues,
  trimmed,
} from './shared.ts'

/** A reseller as its owner sees it. `created_licenses` counts existing ones; `remaining_licenses` is never negative. */
export const reseller = z.strictObject({
  _id: z.string(),
  email: z.string(),
  app_id: z.strictObject({ _id: z.string(), name: z.string() }),
  allowed_license_keys: z.int(),
  created_licenses: z.int(),
  remaining_licenses: z.int(),
  createdAt: isoTime,
  active: z.boolean(),
})

/** Counts over all resellers of an owner, regardless of filters; `licenses` counts their existing licenses. */
const resellerStats = z.strictObject({ total: z.int(), active: z.int(), licenses: z.int() })

const allowed = (min: number) =>
  z
    .int('Please enter a valid license limit (0 or greater)')
    .min(min, `License limit must be ${min} or greater`)
    .max(limits.resellerLicensesMax, 'License limit cannot exceed 10,000')

const isActive = z
  .string()
  .max(5, 'Must be true or false')
  .pipe(z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'Must be true or false' }))

const one = z.strictObject({ reseller })

/** Where a reseller is signed in, as the owner sees it. The User-Agent is for the reseller alone. */
const resellerSession = accountSession.pick({ _id: true, createdAt: true, lastUsedAt: true }).extend({
  address: z
    .string()
    .nullable()
    .describe('where it was used last; null if unknown, or if the caller may not read the audit log'),
})

const tag = 'Resellers'

export const resellers = {
  list: endpoint({
    method: 'GET',
    path: '/resellers',
    access: 'owner',
    permission: 'resellers:read',
    tag,
    summary: 'List your resellers, newest first; search matches email addresses',
    query: fullPageQuery.extend({
      app: appFilter,
      search,
      active: isActive.optional(),
    }),
    data: z.strictObject({ resellers: z.array(reseller), pagination, stats: resellerStats }),
  }),
  get: endpoint({
    method: 'GET',
    path: '/resellers/:id',
    access: 'owner',
    permission: 'resellers:read',
    tag,
    summary: 'Get a reseller and its open sessions, last used first',
    params: idParams,
    data: one.extend({ sessions: z.array(resellerSession).max(limits.accountSessionsMax) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/resellers',
    access: 'owner',
    permission: ['resellers:write', 'licenses:write'],
    tag,
    summary: 'Create a reseller for an app; only this response contains the password',
    body: z.strictObject({
      email,
      password: trimmed(password),
      app_id: id,
      allowed_license_keys: allowed(1),
    }),
    data: reseller
      .pick({ _id: true, email: true, app_id: true, allowed_license_keys: true })
      .extend({ password: z.string() }),
    status: 201,
    errors: ['plan_limit_reached', 'email_taken', 'busy'],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/resellers/:id',
    access: 'owner',
    permission: 'resellers:write',
    tag,
    also: [{ when: 'a higher `licenseLimit`', permission: ['licenses:write'] }],
    summary: 'Change the license limit, suspend or resume; suspending ends the sessions of the reseller',
    params: idParams,
    body: z
      .strictObject({
        licenseLimit: allowed(0).optional(),
        active: z.boolean().optional(),
        seen: seenValues({ licenseLimit: allowed(0) }),
      })
      .refine(
        ({ seen: _, ...changes }) => Object.values(changes).some((value) => value !== undefined),
        'Nothing to change',
      ),
    data: one,
    errors: ['reseller_changed'],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/resellers/:id',
    access: 'owner',
    permission: 'resellers:write',
    tag,
    summary: 'Delete a reseller; you keep its licenses and their end users',
    params: idParams,
    data: none,
  }),
  endSessions: endpoint({
    method: 'DELETE',
    path: '/resellers/:id/sessions',
    access: 'owner',
    permission: 'resellers:write',
    tag,
    summary: 'End all sessions of a reseller, which can sign in again',
    params: idParams,
    data: none,
  }),
  resetSecondFactor: endpoint({
    method: 'DELETE',
    path: '/resellers/:id/second-factor',
    access: 'owner',
    permission: 'resellers:write',
    confirm: 'always',
    tag,
    summary: 'Remove all second factors of a reseller that has lost them, and end its sessions',
    params: idParams,
    data: none,
  }),
}

export type Reseller = z.output<typeof reseller>
export type ResellerSession = z.output<typeof resellerSession>
