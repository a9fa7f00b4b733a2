import { z } from 'zod'
import { limits } from './constants.ts'
import { device, deviceUse } from './devices.ts'
import { endpoint } from './endpoint.ts'
import { addedRights, grants } from './grants.ts'
import {
  appFilter,
  appRef,
  banReason,
  customerLink,
  email,
  hwid,
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
  password,
  type SearchMatch,
  search,
  seenValues,
  sort,
  username,
} from './shared.ts'
import { ending } from './terms.ts'

/** Banned overrides Expired. */
export const clientStatus = z.enum(['active', 'expired', 'banned'])

/** A status of lists, or `expiring`. */
const listedStatus = z.enum([...clientStatus.options, 'expiring'])

/** An end user as the owner sees it. */
export const client = z.strictObject({
  _id: z.string(),
  username: z.string(),
  email: z.string().nullable(),
  customer: z.string().nullable().describe('the `_id` of its customer; a program never sets it'),
  app: appRef,
  status: clientStatus,
  ban: z.boolean(),
  banReason: z.string().nullable(),
  paused: z.boolean().describe('the remaining time is kept until it is resumed'),
  hwid: z.string().nullable(),
  licenseKey: z.string().nullable(),
  testLicense: z.boolean().describe('whether a test order created that license'),
  createdAt: isoTime,
  ...ending,
  lastLoginAt: isoTime.nullable(),
  offline: z
    .strictObject({ until: isoTime.nullable() })
    .nullable()
    .describe(
      'until when a lease or an activation file can run without the server, whatever is changed here; `until` is null for a file that never ends, and `offline` is null if nothing runs',
    ),
})

export const clientStats = z.strictObject({
  total: z.int(),
  active: z.int(),
  banned: z.int(),
  expired: z.int(),
})

/**
 * Filters of lists and exports of end users; search matches what people know of an end user. Type and reseller are those of
 * one of its licenses.
 */
export const clientFilter = z.object({
  app: appFilter,
  status: listedStatus
    .optional()
    .describe(`expiring: active ones that expire in the next ${limits.expiringSoonDays} days`),
  ...originFilters,
  search,
})

export const ownersDevice = device.extend({
  offline: z
    .strictObject({ until: isoTime.nullable(), by: z.enum(['lease', 'file']) })
    .nullable()
    .describe(
      'until when a lease or an activation file lets a program run on it without the server; `until` is null for never',
    ),
})

const named = {
  knownAs: z
    .string()
    .nullable()
    .describe(
      'what to call an end user that signs in with its key: the address of its customer, its own one, else the name of its device; null for others',
    ),
}

const one = z.strictObject({ client })
const tag = 'End users'

export const clients = {
  list: endpoint({
    method: 'GET',
    path: '/clients',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary: 'List end users, newest first by default; each row says what a search found',
    query: pageQuery.extend({ ...clientFilter.shape, sort }),
    data: z.strictObject({
      clients: z.array(client.extend({ ...named, ...matched })),
      pagination,
      stats: clientStats,
    }),
  }),
  ids: endpoint({
    method: 'GET',
    path: '/clients/ids',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary: `Get the ids of up to ${limits.searchCountMax} end users that match the filters, newest first`,
    query: clientFilter,
    data: matchingIds,
  }),
  get: endpoint({
    method: 'GET',
    path: '/clients/:id',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary: 'Get an end user',
    params: idParams,
    data: z.strictObject({ client: client.extend({ ...named, grants, rights: z.array(addedRights) }) }),
  }),
  createDirect: endpoint({
    method: 'POST',
    path: '/clients/create-direct',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary: 'Create an end user without a license key',
    body: z.strictObject({
      username,
      password,
      appId: id,
      hwid: hwid.nullish(),
      expiresAt: instant.nullable().describe('null: never expires'),
      customer: customerLink,
    }),
    data: one,
    status: 201,
    errors: ['plan_limit_reached', 'username_taken', 'busy'],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/clients/:id',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary:
      'Change the name, the address, the end or the customer of an end user; omitted fields stay unchanged',
    params: idParams,
    body: z
      .strictObject({
        username: username.optional(),
        email: email.nullable().optional(),
        expiresAt: instant
          .nullable()
          .optional()
          .describe('also earlier than now, which ends it now, as its first license; null: never expires'),
        customer: customerLink,
        seen: seenValues({ expiresAt: instant.nullable() }),
      })
      .refine(({ seen: _, ...body }) => Object.keys(body).length > 0, {
        path: ['username'],
        message: 'Nothing to change',
      }),
    data: one,
    errors: ['username_taken', 'plan_limit_reached', 'client_changed'],
  }),
  setPassword: endpoint({
    method: 'PUT',
    path: '/clients/:id/password',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary:
      'Set the password of an end user, or mail it a link to choose one; ends its sessions and remembered sign-ins',
    params: idParams,
    body: z
      .strictObject({ password: password.optional(), mail: z.literal(true).optional() })
      .refine(({ password: chosen, mail }) => (chosen === undefined) !== (mail === undefined), {
        path: ['password'],
        message: 'Exactly one of password and mail is required',
      }),
    data: one,
    errors: ['busy', 'signs_in_by_key', 'customer_page_off', 'no_address', 'mail_off', 'email_not_confirmed'],
  }),
  addLicense: endpoint({
    method: 'POST',
    path: '/clients/:id/licenses',
    access: 'owner',
    permission: ['clients:write', 'licenses:write'],
    tag,
    summary:
      'Add an unused license of the app to an end user, as `upgrade` does; also needs `licenses:write`',
    params: idParams,
    body: z.strictObject({ license: id.describe('the `_id` of the license') }),
    data: one,
    errors: ['license_not_free', 'end_user_blocked', 'never_expires'],
  }),
  toggleBan: endpoint({
    method: 'PATCH',
    path: '/clients/:id/toggle-ban',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary: 'Ban or unban an end user; a ban can also block its devices and the address of its last sign-in',
    params: idParams,
    body: z.strictObject({
      is_banned: z.boolean().optional(),
      reason: banReason.optional().describe('replaces `{reason}` in the text that programs get'),
      blockDevices: z
        .boolean()
        .optional()
        .describe('with a ban: adds hardware ids and address to the block list'),
    }),
    data: one,
    errors: ['blocklist_full'],
  }),
  togglePause: endpoint({
    method: 'PATCH',
    path: '/clients/:id/toggle-pause',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary: 'Pause or resume an end user; the remaining time is kept',
    params: idParams,
    body: z.strictObject({ paused: z.boolean().optional() }),
    data: one,
  }),
  resetHwid: endpoint({
    method: 'PATCH',
    path: '/clients/:id/reset-hwid',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary: 'Clear the hardware lock; the next sign-in binds a new device',
    params: idParams,
    body: none,
    data: one,
  }),
  devices: endpoint({
    method: 'GET',
    path: '/clients/:id/devices',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary: 'List the devices of an end user, the one seen last first',
    params: idParams,
    data: z.strictObject({ devices: z.array(ownersDevice), ...deviceUse.shape }),
  }),
  freeDevice: endpoint({
    method: 'DELETE',
    path: '/clients/:id/devices/:deviceId',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary: 'Free a device of an end user, so that another one can take its place',
    params: idParams.extend({ deviceId: id }),
    data: none,
  }),
  extend: endpoint({
    method: 'PATCH',
    path: '/clients/:id/extend',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary: 'Add days, counted from the later of now and the current expiry',
    params: idParams,
    body: z.strictObject({ days: z.int().min(1).max(limits.extendDaysMax) }),
    data: one,
    errors: ['plan_limit_reached', 'never_expires'],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/clients/:id',
    access: 'owner',
    permission: 'clients:delete',
    tag,
    summary: 'Delete an end user; frees its licenses for reuse',
    params: idParams,
    data: none,
  }),
}

export type OwnersDevice = z.output<typeof ownersDevice>
export type Client = z.output<typeof client>
export type ListedClient = Client & { knownAs: string | null; match?: SearchMatch | undefined }
export type ClientStatus = z.output<typeof clientStatus>
export type ListedClientStatus = z.output<typeof listedStatus>
