import type { Generated } from 'kysely'

export interface MailTables {
  mails: MailsTable
  reset_requests: ResetRequestsTable
}

interface MailsTable {
  id: string
  /** The vendor account that it is about; null for none. It is deleted with this account, the person or the reseller. */
  owner_id: string | null
  account_id: string | null
  reseller_id: string | null
  /** The customer that it goes to; it is erased with it. */
  customer_id: Generated<string | null>
  /** Vendors take turns; mails with a link do not wait for others of the same vendor, and none waits for mails to buyers. */
  lane: string
  state: 'queued' | 'sent' | 'failed' | 'expired'
  /** Address, subject and texts, encrypted; null once it is not queued any more. */
  sealed: string | null
  /** When it is sent next, or its claim ends; null once it is not queued any more. */
  due_at: number | null
  attempts: Generated<number>
  /** Codes of the mail server's response; no text of it, which may quote the mail. */
  last_error: Generated<string | null>
  expires_at: number
  /** When it was due for the first time: at once, unless its owner has sent as many mails to buyers as a day has. */
  created_at: number
  kept_until: Generated<number | null>
}

/** What someone typed who forgot a password. Whether the account exists is found out later. */
interface ResetRequestsTable {
  id: string
  /** A keyed hash of the caller's network: networks take turns. */
  network: string
  /** Kind, email and address, encrypted. */
  sealed: string
  due_at: number
  expires_at: number
}
