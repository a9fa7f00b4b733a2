import { z } from 'zod'
import { appSettings } from './app-settings.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import type { MessageKey } from './errors.ts'
import { localeQuery } from './locales.ts'
import { messageDefaults } from './messages.ts'
import {
  bans,
  fullPageQuery,
  idParams,
  isoTime,
  none,
  pagination,
  search,
  seenValues,
  text,
  version,
} from './shared.ts'

export const app = z.strictObject({
  _id: z.string(),
  name: z.string(),
  appId: z.string().length(limits.appIdLength),
  appSecret: z
    .string()
    .length(limits.appSecretLength)
    .nullable()
    .describe('null without the permission `secrets:read`'),
  version: z.string(),
  paused: z.boolean(),
  createdAt: isoTime,
  sdklessInitAt: isoTime
    .nullable()
    .describe(
      'when a program that names no `sdk` last called init, to the day; such a program may not know licenses without an end',
    ),
  settings: appSettings,
})

const messageKeys = Object.keys(messageDefaults) as [MessageKey, ...MessageKey[]]
const messageTexts = z.strictObject({
  errorMessages: z.record(z.enum(messageKeys), z.string()),
  changed: z
    .array(z.enum(messageKeys))
    .describe('the keys of the texts that the app has set in this language'),
  locales: z.array(z.string()).describe('the languages with texts, besides the default'),
})
const messageText = text(1, 300, 'Message').nullable()
const messageChanges = Object.fromEntries(messageKeys.map((key) => [key, messageText.optional()])) as {
  [Key in MessageKey]: z.ZodOptional<typeof messageText>
}

const name = text(1, 80, 'Name')
const oneApp = z.strictObject({ app })
const tag = 'Apps'

export const apps = {
  list: endpoint({
    method: 'GET',
    path: '/apps',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'List your apps, newest first; search matches names and app ids',
    query: fullPageQuery.extend({ search }),
    data: z.strictObject({
      apps: z.array(app),
      count: z.int().describe('all your apps, ignoring the search'),
      pagination,
    }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/apps',
    access: 'owner',
    permission: 'apps:write',
    allApps: true,
    tag,
    summary: 'Create an app with its own id, secret and signing key',
    body: z.strictObject({ name }),
    data: oneApp,
    status: 201,
    errors: ['plan_limit_reached'],
  }),
  get: endpoint({
    method: 'GET',
    path: '/apps/:id',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'Get an app',
    params: idParams,
    data: oneApp,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/apps/:id',
    access: 'owner',
    permission: 'apps:write',
    bodyLimit: 65_536,
    tag,
    summary: 'Change the name, version, settings or pause; omitted fields stay unchanged',
    params: idParams,
    body: z
      .strictObject({
        name: name.optional(),
        version: version.optional(),
        paused: z.boolean().optional(),
        settings: appSettings.partial().optional(),
        seen: seenValues({ name, version, settings: appSettings.partial() }),
      })
      .refine(
        ({ seen: _, ...changes }) => Object.values(changes).some((value) => value !== undefined),
        'Nothing to change',
      ),
    data: oneApp,
    errors: ['app_changed'],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/apps/:id',
    access: 'owner',
    permission: 'apps:write',
    deleting: ['licenses:delete', 'clients:delete'],
    confirm: 'with_factor',
    job: true,
    tag,
    summary: 'Delete an app with its resellers, licenses and end users',
    params: idParams,
    data: none,
  }),
  deletionPreview: endpoint({
    method: 'GET',
    path: '/apps/:id/deletion-preview',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'Preview what deleting the app removes',
    params: idParams,
    data: z.strictObject({
      willDelete: z.strictObject({ resellers: z.int(), licenses: z.int(), endUsers: z.int() }),
    }),
  }),
  stats: endpoint({
    method: 'GET',
    path: '/apps/:id/stats',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'Get the counts of an app, and the SDKs that its programs use',
    params: idParams,
    query: z.object({ banned: bans }),
    data: z.strictObject({
      stats: z.strictObject({
        totalLicenses: z.int(),
        activeLicenses: z.int(),
        unusedLicenses: z.int(),
        expiredLicenses: z.int(),
        bannedLicenses: z.int(),
        totalResellers: z.int(),
        totalClients: z.int(),
        onlineClients: z
          .int()
          .describe(
            `end users that are signed in and whose program called within ${limits.onlineHours} hours, at least those of the last hour; counted over the last ${limits.onlineMax} sessions`,
          ),
        licensesLeft: z
          .int()
          .nullable()
          .describe('how many more licenses the plan allows; null if unlimited'),
      }),
      sdks: z.array(z.string()).describe('the SDKs that its programs name, with versions; at most 50'),
    }),
  }),
  rotateSecret: endpoint({
    method: 'POST',
    path: '/apps/:id/rotate-secret',
    access: 'owner',
    permission: 'secrets:write',
    confirm: 'with_factor',
    tag,
    summary: 'Give the app a new secret; the old one stops working immediately',
    params: idParams,
    body: none,
    data: oneApp,
  }),
  getErrorMessages: endpoint({
    method: 'GET',
    path: '/apps/:id/error-messages',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'Get the texts that programs of this app show, in a language or the default ones',
    params: idParams,
    query: localeQuery,
    data: messageTexts,
  }),
  updateErrorMessages: endpoint({
    method: 'PUT',
    path: '/apps/:id/error-messages',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary: 'Change some or all texts of a language; null falls back to the more general one',
    params: idParams,
    query: localeQuery,
    body: z.strictObject({
      ...messageChanges,
      seen: z
        .strictObject(messageChanges)
        .optional()
        .describe(
          'the texts of this language that the caller saw, null for none; nothing is saved if one has changed, unless to what the call wants',
        ),
    }),
    bodyLimit: 65_536,
    data: messageTexts,
    errors: ['locales_full', 'messages_changed'],
  }),
  resetErrorMessages: endpoint({
    method: 'DELETE',
    path: '/apps/:id/error-messages',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary: 'Reset all texts of a language to the default',
    params: idParams,
    query: localeQuery,
    data: messageTexts,
  }),
}

export type App = z.output<typeof app>
