import { z } from 'zod'
import { brandColor } from './app-settings.ts'
import { links } from './buy-links.ts'
import { limits, orderStates } from './constants.ts'
import { device, deviceUse } from './devices.ts'
import { endpoint } from './endpoint.ts'
import type { MessageKey } from './errors.ts'
import { ownRights } from './grants.ts'
import { localeQuery } from './locales.ts'
import { messageDefaults } from './messages.ts'
import { offlineRequestText } from './offline-activations.ts'
import { email, id, idParams, isoTime, none, password, signInPassword } from './shared.ts'
import { ending, licenseTerms } from './terms.ts'

const codes = Object.keys(messageDefaults) as [MessageKey, ...MessageKey[]]

/** How a customer has signed in, and so what the session opens. */
export const customerKinds = ['license', 'end_user', 'customer'] as const
const kind = z
  .enum(customerKinds)
  .describe(
    '`license`, by a key: that license and its devices. `end_user`, by a password: that end user. `customer`, by a mailed link: all that the person has in the app',
  )

/** What strangers see of the page. */
const pageApp = z.strictObject({
  appId: z.string(),
  name: z.string(),
  brandColor: brandColor.nullable(),
})

const page = z.strictObject({
  app: pageApp,
  vendor: z.string().describe('the name in its profile, else that of the app'),
  support: z.string().nullable().describe('an email address or an https link'),
  shop: z.string().nullable().describe('where people without a key buy, as `buyUrl` of the app'),
  logo: z.string().nullable().describe('names the picture at `/customer/{appId}/logo/{digest}`'),
  mail: z.boolean().describe('whether the server can mail links'),
})

/** Why the program was refused last. */
export const lastRefusal = z.strictObject({
  code: z.enum(codes),
  message: z.string().describe("the app's text, in the language of the call"),
  reference: z.string().describe('names this refusal; the vendor finds it by it'),
  at: isoTime,
  solved: z.boolean().describe('whether the same call would be accepted now'),
})

/** A license as its customer sees it. */
const ownLicense = z.strictObject({
  _id: z.string(),
  key: z.string(),
  type: z.string().nullable().describe('the name of its license type'),
  client: z
    .string()
    .nullable()
    .describe('the `_id` of the end user in `clients` that uses it; null before its first use'),
  status: z.enum(['unused', 'active', 'expired', 'banned']),
  ...ending,
  ...licenseTerms,
  features: z.array(z.string()),
  test: z.boolean().describe('whether a test order created it'),
  links,
  refusal: lastRefusal
    .nullable()
    .describe(
      `the last one of a key that no end user uses yet, within ${limits.customerRefusalDays} days; that of others is in \`clients\``,
    ),
  createdAt: isoTime,
})

/** An end user as its customer sees it: its devices, and whether the program may run. */
const ownEndUser = z.strictObject({
  _id: z.string(),
  username: z.string().nullable().describe('null for a session by key, and for who signs in by key'),
  hasPassword: z.boolean().describe('whether this session may set its password'),
  expiresAt: ending.expiresAt,
  inGrace: ending.inGrace,
  rights: z.array(ownRights).describe('what keys that were added allow, each until its own end'),
  devices: deviceUse,
  floating: z.boolean().describe('true: seats are shared, and devices take no place'),
  freed: z
    .strictObject({
      used: z.int(),
      limit: z.int().describe('the setting `customerDevices`; 0: the page frees no devices'),
      until: isoTime.nullable().describe('when the next device can be freed, if none can be freed now'),
    })
    .describe(`devices freed on the page within ${limits.customerDeviceDays} days`),
  refusal: lastRefusal.nullable().describe(`the last one within ${limits.customerRefusalDays} days`),
  refusedNow: z
    .enum(codes)
    .nullable()
    .describe('why the program would be refused on every device now; null if it may run'),
})

/** An order as its buyer sees it. */
const ownOrder = z.strictObject({
  order: z.string().describe('the shop’s number of the order'),
  lines: z.array(
    z.strictObject({
      product: z.string().describe('as the shop names it'),
      type: z.string().nullable().describe('the name of the license type that it is sold as'),
      quantity: z.int(),
    }),
  ),
  amount: z.int().nullable().describe('in the currency’s smallest unit'),
  currency: z.string().nullable(),
  state: z.enum(orderStates),
  licenses: z.array(z.string()).describe('keys'),
  createdAt: isoTime,
})

const me = z.strictObject({
  ...page.shape,
  kind,
  email: z.string().nullable().describe('only for `customer`'),
  name: z.string().nullable().describe('only for `customer`'),
  licenses: z.array(ownLicense).describe(`newest first, ${limits.customerPartsMax} at most`),
  clients: z.array(ownEndUser).describe(`newest first, ${limits.customerPartsMax} at most`),
  orders: z
    .array(ownOrder)
    .nullable()
    .describe(`newest first, ${limits.customerPartsMax} at most; null unless \`customer\``),
  mustChoosePassword: z
    .string()
    .nullable()
    .describe('the `_id` of the end user whose password a mailed link lets this session choose'),
  expiresAt: isoTime.describe('when the session ends'),
})

const appParams = z.object({ appId: id })
const mailToken = z.string().min(1, 'Token is required').max(200, 'Token is too long')
const session = z.strictObject({ token: z.string(), kind, expiresAt: isoTime })
const tag = 'Customer’s page'

export const customerPage = {
  get: endpoint({
    method: 'GET',
    path: '/customer/:appId',
    access: 'public',
    tag,
    summary: 'Get what the page shows before a sign-in; 404 where the page is off',
    params: appParams,
    data: page,
    errors: ['not_found', 'rate_limited'],
  }),
  logo: endpoint({
    method: 'GET',
    path: '/customer/:appId/logo/:digest',
    access: 'public',
    tag,
    summary: 'Get the logo that the page shows; 404 where the page is off',
    params: appParams.extend({ digest: id }),
    data: none,
    file: ['image/png', 'image/jpeg'],
    errors: ['not_found', 'rate_limited'],
  }),
  login: endpoint({
    method: 'POST',
    path: '/customer/:appId/login',
    access: 'public',
    hashes: true,
    tag,
    summary:
      'Sign in as a customer by a license key, by the username and password of an end user, or by the token of a mailed link, which works once',
    params: appParams,
    body: z
      .strictObject({
        licenseKey: z
          .string()
          .trim()
          .min(1, 'License key is required')
          .max(limits.pastedKeyMax, 'License key is too long')
          .optional(),
        username: z.string().trim().min(1, 'Username is required').max(limits.usernameMax).optional(),
        password: signInPassword.optional(),
        mailToken: mailToken.optional(),
        locale: localeQuery.shape.locale.describe('the language of a refusal'),
      })
      .refine(
        ({ licenseKey, username, password: typed, mailToken: token }) =>
          [licenseKey, username ?? typed, token].filter((one) => one !== undefined).length === 1 &&
          (username === undefined) === (typed === undefined),
        {
          path: ['licenseKey'],
          message: 'Exactly one of licenseKey, username with password, and mailToken is required',
        },
      ),
    data: session,
    errors: [
      'not_found',
      'customer_login_failed',
      'customer_link_invalid',
      'keyNotFound',
      'userBanned',
      'keyBanned',
      'rate_limited',
      'busy',
    ],
  }),
  mail: endpoint({
    method: 'POST',
    path: '/customer/:appId/mail',
    access: 'public',
    tag,
    summary:
      'Mail a customer a link that opens all it has in the app, keys too; the response is the same for all addresses',
    params: appParams,
    body: z.strictObject({ email, locale: localeQuery.shape.locale.describe('the language of the mail') }),
    data: none,
    errors: ['not_found', 'mail_off', 'rate_limited', 'busy'],
  }),
  me: endpoint({
    method: 'GET',
    path: '/customer/me',
    access: 'customer',
    tag,
    summary: 'Get what the signed-in customer may see',
    query: localeQuery,
    data: me,
  }),
  devices: endpoint({
    method: 'GET',
    path: '/customer/devices',
    access: 'customer',
    tag,
    summary: 'List the devices of the signed-in customer, those seen last first',
    data: z.strictObject({
      devices: z
        .array(
          device.extend({
            client: z.string().describe('the `_id` of its end user'),
            offlineUntil: isoTime
              .nullable()
              .describe('it runs with a file until then, so it cannot be freed here; the file may never end'),
            offline: z.boolean().describe('whether it runs with a file'),
          }),
        )
        .max(limits.deviceListMax),
    }),
  }),
  freeDevice: endpoint({
    method: 'DELETE',
    path: '/customer/devices/:id',
    access: 'customer',
    tag,
    summary:
      'Free a device: another one can take its place now. Without a connection it goes on running until its lease ends',
    params: idParams,
    data: none,
    errors: ['device_self_service_off', 'device_free_limit', 'device_activated_offline', 'not_found'],
  }),
  setPassword: endpoint({
    method: 'PUT',
    path: '/customer/password',
    access: 'customer',
    tag,
    summary:
      'Set the password of an end user; ends its other sessions, those of its programs, and its remembered sign-ins',
    body: z.strictObject({
      client: id.optional().describe('the `_id` of the end user, if the customer has several'),
      currentPassword: signInPassword
        .optional()
        .describe('required after a sign-in by password, not after one by a mailed link'),
      newPassword: password,
    }),
    data: none,
    errors: ['customer_key_session', 'signs_in_by_key', 'pwLeaked', 'not_found', 'rate_limited', 'busy'],
  }),
  activateOffline: endpoint({
    method: 'POST',
    path: '/customer/offline-activations',
    access: 'customer',
    tag,
    summary: 'Make the file with which a machine runs without a connection, for a license of the customer',
    body: z.strictObject({ request: offlineRequestText.describe('the text that starts with `KWR1-`') }),
    data: z.strictObject({
      file: z.string().describe('the text of the file; a program reads it from disk'),
      until: isoTime.nullable().describe('when the file ends; null for never'),
    }),
    status: 201,
    errors: ['offline_refused', 'offline_floating', 'offline_request_used', 'rate_limited'],
  }),
  logout: endpoint({
    method: 'POST',
    path: '/customer/logout',
    access: 'customer',
    tag,
    summary: 'Revoke the token of this request',
    body: none,
    data: none,
  }),
}

export type CustomerPage = z.output<typeof page>
export type CustomerKind = z.output<typeof kind>
export type CustomerSelf = z.output<typeof me>
export type OwnLicense = z.output<typeof ownLicense>
export type OwnEndUser = z.output<typeof ownEndUser>
export type OwnOrder = z.output<typeof ownOrder>
