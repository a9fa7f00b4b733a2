import type { DeliveryState, PauseReason, WebhookFormat } from '@keyward/contract'
import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface WebhookTables {
  webhooks: WebhooksTable
  webhook_deliveries: WebhookDeliveriesTable
}

interface WebhooksTable {
  id: string
  owner_id: string
  /** Sealed: the path can hold a token. */
  url_sealed: string
  origin: string
  /** Null for formats without signatures. */
  secret_sealed: string | null
  /** The secret before a rotation, which signs until `previous_until`. */
  previous_sealed: Generated<string | null>
  previous_until: Generated<number>
  /** A JSON array of event names, or of `*` alone. */
  events: string
  /** A JSON array of app ids; null for all apps. */
  apps: string | null
  format: WebhookFormat
  active: Generated<Flag>
  failing_since: Generated<number | null>
  /** Why the server paused it; null while it is active, or if a person paused it. */
  pause_reason: Generated<PauseReason | null>
  /** Whether it becomes active again with its vendor, which the operator has disabled. */
  off_with_vendor: Generated<Flag>
  /** Who saved it last. */
  maker_kind: 'person' | 'api_key'
  maker_id: string
  /** The maker, or the last person or key that rotated the secret: only they received it. */
  keeper_kind: Generated<'person' | 'api_key'>
  keeper_id: Generated<string>
  created_at: number
  /** Its log is deleted in parts, then its row. */
  deleted_at: Generated<number | null>
}

interface WebhookDeliveriesTable {
  /** The order of events. */
  seq: Generated<number>
  webhook_id: string
  owner_id: string
  /** The id of the record in the audit log, or of a refusal or test. */
  event_id: string
  event: string
  /** Events of one subject are delivered in order. */
  subject: string
  target_id: string | null
  app_id: string | null
  actor_kind: string
  actor_id: string
  detail: string | null
  happened_at: number
  /** Made by the first attempt, so that all attempts send the same bytes. */
  body: Generated<string | null>
  /** The maker whose rights the body has. */
  body_maker: Generated<string | null>
  state: Generated<DeliveryState>
  /** The next attempt, or the end of the lease of a running one; null once there is none. */
  due_at: number | null
  attempts: Generated<number>
  first_at: Generated<number | null>
  status: Generated<number | null>
  error: Generated<string | null>
  duration_ms: Generated<number | null>
  request: Generated<string | null>
  response: Generated<string | null>
  expires_at: number
}
