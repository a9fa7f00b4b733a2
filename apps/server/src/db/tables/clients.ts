import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface ClientTables {
  clients: ClientsTable
  client_sessions: ClientSessionsTable
  client_variables: ClientVariablesTable
  devices: DevicesTable
  former_versions: FormerVersionsTable
  device_tokens: DeviceTokensTable
  offline_activations: OfflineActivationsTable
  deleted_files: DeletedFilesTable
  trial_marks: TrialMarksTable
}

interface ClientsTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  license_id: string | null
  customer_id: Generated<string | null>
  username: string
  username_normalized: string
  email: string | null
  password_hash: string | null
  /** The hardware id of the device seen last. */
  hwid: string | null
  hwid_hash: string | null
  /** The number of rows in `devices`. */
  device_count: Generated<number>
  /** When a program last freed a device of this end user. */
  device_freed_at: number | null
  banned: Generated<Flag>
  ban_reason: string | null
  /** Since when it is paused, or since its last change in the pause. */
  paused_at: number | null
  /** The time that access has left while it is paused, grace days included; null if it has none, or no end. */
  left_ms: Generated<number | null>
  /** Where the last sign-in came from. */
  last_address: string | null
  /** When access ends, grace days included: counts, filters and verdicts compare it. See `accessEnd`. */
  expires_at: number
  /** The grace days of the first license. */
  grace_days: Generated<number>
  /** Changes with the end user's variables; null without any. */
  variables_revision: Generated<string | null>
  /** What the keys that `upgrade` added allow until when, as JSON; null without any. See `rightsOf`. */
  added_rights: Generated<string | null>
  last_login_at: number | null
  created_at: number
  /** Leases issued so far. */
  lease_seq: Generated<number>
  /** Until when a lease lets a program run offline, its grace included. */
  lease_until: number | null
  /** Until when an activation file lets a program run offline; later than any real end for never. */
  activation_until: number | null
}

interface ClientSessionsTable {
  id: string
  app_id: string
  client_id: string | null
  token_hash: string
  hwid_hash: string | null
  /** The program's version; null if it signed in with an earlier version of the server. */
  version: Generated<string | null>
  secret_version: Generated<number>
  /** A canonical language tag, if the program named a language. */
  locale: string | null
  created_at: number
  expires_at: number
}

interface ClientVariablesTable {
  client_id: string
  revision: string
  sealed: string
}

interface DevicesTable {
  id: string
  owner_id: string
  app_id: string
  client_id: string
  /** The hardware id as the program sent it; `sha256:` and its hash while only that is known. */
  hwid: string
  /** Identifies the device among those of its end user; see `deviceHash`. */
  hwid_hash: string
  name: string | null
  system: string | null
  /** Salted hashes of parts; null where the device has none. */
  part_machine: string | null
  part_board: string | null
  part_disk: string | null
  part_network: string | null
  /** How often the device drifted since `drifting_since`. */
  drifts: Generated<number>
  drifting_since: number | null
  /** Until when its last lease lets a program run offline, its grace included, and the `hwid_hash` it was issued for. */
  lease_until: number | null
  lease_hash: string | null
  /** The version of the program at its last sign-in or `session`; null while no call has named one. */
  version: Generated<string | null>
  /** See `versionOrder`. */
  version_order: Generated<string | null>
  /** The release whose advisory its program got last. */
  told_release: Generated<string | null>
  /** Set once a program freed it while a lease ran: it is not bound any more, but keeps its place until then. */
  freed_until: number | null
  first_seen_at: number
  last_seen_at: number
}

/** A version that ran on a device before another one. */
interface FormerVersionsTable {
  device_id: string
  version_order: string
  app_id: string
  until: number
}

/** A remembered sign-in. */
interface DeviceTokensTable {
  id: string
  owner_id: string
  app_id: string
  client_id: string
  device_id: string
  token_hash: string
  /** The token that was exchanged for the latest one, until that is used. */
  previous_hash: string | null
  created_at: number
  expires_at: number
}

interface OfflineActivationsTable {
  id: string
  owner_id: string
  app_id: string
  client_id: string
  license_id: string | null
  /** Null once the device was freed. */
  device_id: string | null
  /** SHA-256 of the hardware id. */
  hwid_hash: string
  /** The hash of nonce, hardware id and key: the same request gets the same activation. */
  request_hash: string
  code_hash: string
  /** When the file ends, as `expires_at` of licenses: later than any real end for never. */
  until: number
  created_at: number
  issued_at: number
  ended_at: number | null
  ended_by: 'code' | 'replaced' | null
}

/** An activation file that runs on although its end user was deleted. */
interface DeletedFilesTable {
  id: string
  app_id: string
  expires_at: number
}

interface TrialMarksTable {
  app_id: string
  /** Recognizes a device; see `marksOf`. */
  mark: string
  /** May name an end user that was deleted. */
  client_id: string
  created_at: number
}
