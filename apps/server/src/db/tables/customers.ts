import type { CustomerKind } from '@keyward/contract'
import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface CustomerTables {
  customers: CustomersTable
  customer_faces: CustomerFacesTable
  customer_sessions: CustomerSessionsTable
  customer_links: CustomerLinksTable
  erasures: ErasuresTable
}

/** A person that a vendor sells to. */
interface CustomersTable {
  seq: Generated<number>
  id: string
  owner_id: string
  email: string
  /** One row for each of a vendor. */
  email_normalized: string
  name: string | null
  note: string | null
  /** Whether it wants mails that nobody needs to get. */
  mails: Generated<Flag>
  /** Unsubscribes it, and opens nothing else. Not derived from the secret key: links in old mails go on working. */
  mail_token: Generated<string | null>
  created_at: number
}

/** What callers who see one app and not all see of a customer with something in it. */
interface CustomerFacesTable {
  seq: Generated<number>
  customer_id: string
  app_id: string
  /** The customer's own id if they see the customer itself; otherwise what follows is all that they see. */
  id: string
  /** As it was typed. */
  email: string | null
  name: string | null
  note: string | null
  created_at: number
}

/** What a token opens on the page of an app; only its hash is stored. */
interface OpenedTable {
  id: string
  owner_id: string
  app_id: string
  token_hash: string
  kind: CustomerKind
  /** The id of a license, of an end user, or of a customer. */
  subject_id: string
  /** A digest of the password or the address that it depends on. */
  proof: string
  created_at: number
  expires_at: number
}

interface CustomerSessionsTable extends OpenedTable {
  /** Whether a mailed link opened it: then a password can be chosen without the current one. */
  by_mail: Generated<Flag>
}

interface CustomerLinksTable extends OpenedTable {}

/** A part of an erasure of a customer. */
interface ErasuresTable {
  seq: Generated<number>
  owner_id: string
  customer_id: string
  /** A keyed hash: what shops tell later of earlier orders names nobody. */
  email_hash: string
  /** Whom it erases and who asked for it, encrypted; null once nothing is looked for any more. */
  sealed: string | null
  begun_at: number
  /** Null while it runs. */
  ended_at: number | null
  /** How often what was written later has been looked for. */
  sweeps: Generated<number>
  /** When any process goes on with it; null once nothing is left to do. */
  due_at: number | null
  expires_at: number
}
