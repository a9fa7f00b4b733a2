import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface NotificationTables {
  notification_settings: NotificationSettingsTable
  notification_scans: NotificationScansTable
  notification_marks: NotificationMarksTable
}

/** The mails that a person wants about a vendor. Without a row, the column defaults apply. */
interface NotificationSettingsTable {
  account_id: string
  owner_id: string
  keys_running_out: Generated<Flag>
  quota_running_out: Generated<Flag>
  licenses_expiring: Generated<Flag>
  refusals_rising: Generated<Flag>
  webhook_failing: Generated<Flag>
  orders_waiting: Generated<Flag>
  weekly_summary: Generated<Flag>
}

/** When the server next scans a vendor for news to mail. */
interface NotificationScansTable {
  owner_id: string
  next_at: number
}

/** News already mailed to a person. The row with an empty subject holds when the last mail of its kind was sent. */
interface NotificationMarksTable {
  account_id: string
  owner_id: string
  kind: string
  /** An app, a reseller or `plan`. */
  subject: string
  /** Whether it still was so at the last look. */
  holds: Flag
  sent_at: number
}
