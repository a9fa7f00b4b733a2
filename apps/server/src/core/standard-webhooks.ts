import { createHmac } from 'node:crypto'

export const webhookSecretPrefix = 'whsec_'

/** The signature of a body by Standard Webhooks, in Base64. */
export const signWebhook = (
  secret: string,
  { id, timestamp, body }: { id: string; timestamp: string; body: string | Buffer },
): string =>
  createHmac('sha256', Buffer.from(secret.slice(webhookSecretPrefix.length), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64')
