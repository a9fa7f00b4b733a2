import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { apiKeyPermissions, type Permission, permissions } from './permissions.ts'
import { id, idParams, instant, isoTime, none, text } from './shared.ts'

/** Every key has this form; scanners for leaked secrets can search for it. */
export const apiKeyPattern = /\bkwa_[0-9A-Za-z]{40}\b/

const permission = z.enum(permissions)

const apiKey = z.strictObject({
  _id: z.string(),
  name: z.string(),
  hint: z.string().describe('the last four characters of the key'),
  permissions: z.array(permission),
  apps: z.array(z.string()).nullable().describe('`_id`s of apps; null for all apps, also future ones'),
  expiresAt: isoTime.nullable(),
  networks: z.array(z.string()).describe('where it works; everywhere if empty'),
  createdAt: isoTime,
  lastUsedAt: isoTime.nullable().describe('stored at most every five minutes'),
  lastAddress: z.string().nullable().describe('as of `lastUsedAt`'),
})

/** What a key learns of itself: not where it works and was used, which helps a thief alone. */
const ownApiKey = apiKey.pick({ _id: true, name: true, permissions: true, apps: true, expiresAt: true })

const distinct = <T extends z.ZodType>(values: z.ZodArray<T>) =>
  values.transform((all): z.output<T>[] => [...new Set(all)])

/** What a vendor chooses when it creates a key. */
export const newApiKey = z.strictObject({
  name: text(1, limits.apiKeyNameMax, 'Name'),
  permissions: distinct(
    z
      .array(z.enum(apiKeyPermissions as readonly [Permission, ...Permission[]]))
      .min(1, 'Choose at least one permission')
      .max(permissions.length),
  ),
  apps: distinct(
    z
      .array(id)
      .min(1, 'Choose at least one app')
      .max(limits.apiKeyAppsMax, `A key can name at most ${limits.apiKeyAppsMax} apps`),
  )
    .nullable()
    .optional()
    .describe('`_id`s or `appId`s; null or missing for all apps'),
  expiresAt: instant.nullable().optional().describe('null or missing: never'),
  networks: distinct(
    z
      .array(z.string().trim().min(1, 'Address is required').max(64, 'Address is too long'))
      .max(limits.apiKeyNetworksMax, `A key can name at most ${limits.apiKeyNetworksMax} networks`),
  )
    .optional()
    .describe('addresses and networks such as `203.0.113.0/24`; IPv6 is compared by its /64 network'),
})

const tag = 'API keys'

export const apiKeys = {
  list: endpoint({
    method: 'GET',
    path: '/api-keys',
    access: 'owner',
    permission: 'ownership',
    tag,
    summary: 'List the API keys that are not revoked, newest first',
    data: z.strictObject({ apiKeys: z.array(apiKey) }),
  }),
  current: endpoint({
    method: 'GET',
    path: '/api-keys/current',
    access: 'owner',
    permission: 'api_key',
    tag,
    summary: 'Get the API key of this request: what it may do, until when',
    data: z.strictObject({ apiKey: ownApiKey }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api-keys',
    access: 'owner',
    permission: 'ownership',
    confirm: 'always',
    tag,
    summary: 'Create an API key; `key` is shown only in this answer',
    body: newApiKey,
    data: z.strictObject({ apiKey, key: z.string() }),
    status: 201,
    bodyLimit: 65_536,
    errors: ['api_keys_full', 'not_found'],
  }),
  revoke: endpoint({
    method: 'DELETE',
    path: '/api-keys/:id',
    access: 'owner',
    permission: 'ownership',
    confirm: 'always',
    tag,
    summary: 'Revoke an API key; it is refused from the next request',
    params: idParams,
    data: none,
  }),
}

export type ApiKey = z.output<typeof apiKey>
