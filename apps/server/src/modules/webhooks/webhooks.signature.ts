import { randomBytes } from 'node:crypto'
import { signWebhook, webhookSecretPrefix } from '../../core/crypto.ts'

/** A secret by Standard Webhooks. */
export const newWebhookSecret = (): string => webhookSecretPrefix + randomBytes(32).toString('base64')

interface Signed {
  id: string
  body: string
  /** In milliseconds since 1970. */
  now: number
}

/** The headers of Standard Webhooks, with a signature by each secret: while a secret is replaced, both are valid. */
export function signedHeaders({ id, body, now }: Signed, secrets: readonly string[]) {
  const timestamp = String(Math.floor(now / 1000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets
      .map((secret) => `v1,${signWebhook(secret, { id, timestamp, body })}`)
      .join(' '),
  }
}
