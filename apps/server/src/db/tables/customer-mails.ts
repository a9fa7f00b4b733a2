import type { MailKind, ToldCustomer } from '@keyward/contract'
import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface CustomerMailTables {
  customer_mail_settings: CustomerMailSettingsTable
  customer_mails: CustomerMailsTable
}

/** Which mails an app sends to its customers. An app without a row has the defaults of new apps. */
interface CustomerMailSettingsTable {
  app_id: string
  /** JSON list. */
  ends_soon_days: string
  /** Licenses that have ended since are told of; null for none. */
  ended_since: number | null
  updates_end_soon: Flag
  payment_failed: Flag
  renewed: Flag
  /** When any process looks for ends next; null if there is nothing to look for. */
  look_at: number | null
}

/** A mail that a customer is to get, got, or did not get. */
interface CustomerMailsTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  customer_id: string
  license_id: string | null
  /** What it is about: a license, an order of one, or a release for a customer. Once for each kind, end and days. */
  subject: string
  kind: Exclude<MailKind, 'purchase'>
  /** The end that it tells of; 0 for none. */
  until: number
  /** How many days before the end; 0 for another kind. */
  days: number
  /** JSON of what cannot be read elsewhere. */
  detail: string
  state: ToldCustomer['state']
  /** It is not sent from then on. */
  ends_at: number
  created_at: number
  done_at: Generated<number | null>
  kept_until: Generated<number | null>
}
