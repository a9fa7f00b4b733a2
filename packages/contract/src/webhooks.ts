import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { type EventName, eventNames } from './event-types.ts'
import { id, idParams, isoTime, none, pageQuery, pagination } from './shared.ts'
import { pauseReasons } from './webhook-pauses.ts'

export const webhookFormats = ['standard', 'discord'] as const
const format = z.enum(webhookFormats)

/** `waiting` before its first attempt, `failed` between attempts, `given_up` after the last one. */
export const deliveryStates = ['waiting', 'delivered', 'failed', 'given_up'] as const
const state = z.enum(deliveryStates)

const webhook = z.strictObject({
  _id: z.string(),
  url: z.string().describe('without `secrets:read` only its origin, since the path can hold a token'),
  events: z.array(z.string()).describe('names of events, or `*` for all'),
  apps: z.array(z.string()).nullable().describe('`_id`s of apps; null for all, and for events of no app'),
  format,
  active: z.boolean().describe('false if a person or the server paused it'),
  pauseReason: z
    .enum(pauseReasons)
    .nullable()
    .describe(
      `why the server paused it: it failed for ${limits.webhookRetryDays} days, its maker has lost access, or more than ${limits.webhookWaitingMax} events waited; null if it did not`,
    ),
  failingSince: isoTime.nullable().describe('the first failure since something was delivered'),
  createdAt: isoTime,
})

const delivery = z.strictObject({
  _id: z.string().describe('the `webhook-id` header: the `_id` of the event’s record in the audit log'),
  event: z.string(),
  state,
  attempts: z.int(),
  status: z.int().nullable().describe('of the last response; null if there was none'),
  durationMs: z.int().nullable().describe('of the last attempt'),
  nextAt: isoTime.nullable().describe('the next attempt; null if there is none'),
  at: isoTime.describe('when it happened'),
})

const url = z
  .string()
  .trim()
  .min(1, 'Address is required')
  .max(limits.webhookUrlMax, `Address can have at most ${limits.webhookUrlMax} characters`)

const distinct = <T extends z.ZodType>(values: z.ZodArray<T>) =>
  values.transform((all): z.output<T>[] => [...new Set(all)])

const events = distinct(
  z
    .array(z.enum(['*', ...eventNames] as ['*', ...EventName[]]))
    .min(1, 'Choose at least one event')
    .max(eventNames.length),
).describe('actions of the audit log, `program.refused`, or `*` for all, also future ones')

const apps = distinct(
  z
    .array(id)
    .min(1, 'Choose at least one app')
    .max(limits.webhookAppsMax, `A webhook can name at most ${limits.webhookAppsMax} apps`),
)
  .nullable()
  .describe('`_id`s or `appId`s; null for all apps, which only callers with all apps can choose')

/** What a vendor chooses when it creates a webhook. */
export const newWebhook = z.strictObject({
  url,
  events,
  apps: apps.optional(),
  format: format.optional().describe('`standard` by default'),
})

const tag = 'Webhooks'
const oneWebhook = z.strictObject({ webhook })
const deliveryParams = z.object({ id, deliveryId: id })
const oneDelivery = z.strictObject({ delivery })

export const webhooks = {
  list: endpoint({
    method: 'GET',
    path: '/webhooks',
    access: 'owner',
    permission: 'webhooks:read',
    tag,
    summary: 'List the webhooks, newest first; callers with some apps get only those of these apps',
    data: z.strictObject({ webhooks: z.array(webhook) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/webhooks',
    access: 'owner',
    permission: 'webhooks:write',
    confirm: 'always',
    tag,
    summary:
      'Create a webhook; `secret` is shown only in this answer, and missing for `discord`. It gets what its maker may read: the person or API key that saved it last',
    body: newWebhook,
    data: z.strictObject({ webhook, secret: z.string().optional() }),
    status: 201,
    bodyLimit: 65_536,
    errors: ['webhooks_full', 'not_found'],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/webhooks/:id',
    access: 'owner',
    permission: 'webhooks:write',
    tag,
    also: [
      { when: 'a new `url` of a webhook whose secret somebody else has', permission: ['secrets:write'] },
    ],
    summary: 'Change, pause or resume a webhook. The caller becomes its maker',
    params: idParams,
    body: z.strictObject({ url, events, apps, active: z.boolean() }).partial(),
    data: oneWebhook,
    bodyLimit: 65_536,
  }),
  delete: endpoint({
    method: 'DELETE',
    path: '/webhooks/:id',
    access: 'owner',
    permission: 'webhooks:write',
    tag,
    summary: 'Delete a webhook with its log; what waits is not delivered',
    params: idParams,
    data: none,
  }),
  rotateSecret: endpoint({
    method: 'POST',
    path: '/webhooks/:id/rotate-secret',
    access: 'owner',
    permission: 'webhooks:write',
    confirm: 'always',
    tag,
    also: [{ when: 'a webhook whose secret somebody else has', permission: ['secrets:write'] }],
    summary: `Replace the secret; the one before also signs for ${limits.webhookRotationHours} hours`,
    params: idParams,
    data: z.strictObject({ secret: z.string() }),
    errors: ['webhook_unsigned'],
  }),
  test: endpoint({
    method: 'POST',
    path: '/webhooks/:id/test',
    access: 'owner',
    permission: 'webhooks:write',
    tag,
    summary: 'Send an event `webhook.test`, whatever events the webhook has chosen',
    params: idParams,
    data: oneDelivery,
    errors: ['webhook_paused'],
  }),
  deliveries: endpoint({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    access: 'owner',
    permission: 'webhooks:read',
    tag,
    summary: `List the deliveries of ${limits.deliveryDays} days, newest first`,
    params: idParams,
    query: pageQuery.extend({ state: state.optional() }),
    data: z.strictObject({ deliveries: z.array(delivery), pagination }),
  }),
  delivery: endpoint({
    method: 'GET',
    path: '/webhooks/:id/deliveries/:deliveryId',
    access: 'owner',
    permission: 'webhooks:read',
    tag,
    summary: 'Get a delivery with its last request and response',
    params: deliveryParams,
    data: z.strictObject({
      delivery: delivery.extend({
        error: z.string().nullable().describe('why the last attempt got no response'),
        request: z
          .string()
          .nullable()
          .describe(`at most ${limits.deliveryBytesMax} bytes; null for callers who may not read the event`),
        response: z.string().nullable().describe('likewise'),
      }),
    }),
  }),
  retry: endpoint({
    method: 'POST',
    path: '/webhooks/:id/deliveries/:deliveryId/retry',
    access: 'owner',
    permission: 'webhooks:write',
    tag,
    summary: 'Send a delivery again now, with the same `webhook-id`, also one that was delivered',
    params: deliveryParams,
    data: oneDelivery,
    errors: ['webhook_paused'],
  }),
}

export type Webhook = z.output<typeof webhook>
export type WebhookFormat = z.output<typeof format>
export type Delivery = z.output<typeof delivery>
export type DeliveryState = z.output<typeof state>
