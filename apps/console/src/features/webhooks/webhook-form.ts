import type { BodyInputOf, endpoints, Webhook } from '@keyward/contract'
import { newWebhook } from '@keyward/contract/webhooks'
import { z } from 'zod'
import type { WebhookChanges } from './queries.ts'

const { url, events, apps, format } = newWebhook.shape

/** The fields of the dialog; `toRequest` and `toChanges` map them to the calls. */
export const webhookSchema = z.object({
  url: url.refine((text) => URL.canParse(text), 'Enter a whole address, such as https://example.com/hook'),
  events,
  apps: apps.unwrap(),
  format: format.unwrap(),
})

type Input = z.input<typeof webhookSchema>
export type WebhookValues = z.output<typeof webhookSchema>

export const toDefaults = (webhook: Webhook | undefined, allApps: boolean): Input =>
  webhook
    ? {
        url: webhook.url,
        events: webhook.events as Input['events'],
        apps: webhook.apps,
        format: webhook.format,
      }
    : { url: '', events: ['*'], apps: allApps ? null : [], format: 'standard' }

export const toRequest = (values: WebhookValues): BodyInputOf<typeof endpoints.webhooks.create> => values

/** Only what was changed: a person who may not see the whole address must not replace it with the visible part. */
export function toChanges(webhook: Webhook, { url, events, apps }: WebhookValues): WebhookChanges {
  return {
    ...(url !== webhook.url && { url }),
    ...(!equal(events, webhook.events) && { events }),
    ...(!equal(apps, webhook.apps) && { apps }),
  }
}

const equal = (a: readonly string[] | null, b: readonly string[] | null) =>
  a === null || b === null ? a === b : a.length === b.length && a.every((one) => b.includes(one))
