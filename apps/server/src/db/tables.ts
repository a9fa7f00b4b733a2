import type { Kysely, Selectable, Transaction } from 'kysely'
import type { AppTables } from './tables/apps.ts'
import type { ClientTables } from './tables/clients.ts'
import type { CountTables } from './tables/counts.ts'
import type { LicenseTables } from './tables/licenses.ts'
import type { MailTables } from './tables/mails.ts'
import type { NotificationTables } from './tables/notifications.ts'
import type { OwnerTables } from './tables/owners.ts'
import type { PaymentTables } from './tables/payments.ts'
import type { RecordTables } from './tables/records.ts'
import type { ResellerTables } from './tables/resellers.ts'
import type { SecondFactorTables } from './tables/second-factors.ts'
import type { WebhookTables } from './tables/webhooks.ts'

/** Times are milliseconds since 1970. */
export interface Tables
  extends OwnerTables,
    AppTables,
    ResellerTables,
    LicenseTables,
    ClientTables,
    CountTables,
    RecordTables,
    MailTables,
    NotificationTables,
    SecondFactorTables,
    WebhookTables,
    PaymentTables {
  meta: { name: string; value: string }
}

/** A database or a transaction; repos receive it as an argument and never keep one. */
export type Db = Kysely<Tables> | Transaction<Tables>
export type Tx = Transaction<Tables>

export type AccountRow = Selectable<Tables['accounts']>
export type MailRow = Selectable<Tables['mails']>
export type ResetRequestRow = Selectable<Tables['reset_requests']>
export type MemberRow = Selectable<Tables['members']>
export type OwnerRow = Selectable<Tables['owners']>
export type ApiKeyRow = Selectable<Tables['api_keys']>
export type WebhookRow = Selectable<Tables['webhooks']>
export type DeliveryRow = Selectable<Tables['webhook_deliveries']>
export type SecondFactorRow = Selectable<Tables['second_factors']>
export type PasskeyRow = Selectable<Tables['passkeys']>
export type AppRow = Selectable<Tables['apps']>
export type SigningKeyRow = Selectable<Tables['signing_keys']>
export type ReleaseRow = Selectable<Tables['releases']>
export type BlockRow = Selectable<Tables['blocklist']>
export type ResellerRow = Selectable<Tables['resellers']>
export type LicenseRow = Selectable<Tables['licenses']>
export type LicenseTypeRow = Selectable<Tables['license_types']>
export type ImportRow = Selectable<Tables['imports']>
export type ImportChunkRow = Selectable<Tables['import_chunks']>
export type ImportSkipRow = Selectable<Tables['import_skips']>
export type ClientRow = Selectable<Tables['clients']>
export type DeviceRow = Selectable<Tables['devices']>
export type DeviceTokenRow = Selectable<Tables['device_tokens']>
export type OfflineActivationRow = Selectable<Tables['offline_activations']>
export type ActivityRow = Selectable<Tables['activity']>
export type CouponRow = Selectable<Tables['coupons']>
export type OrderRow = Selectable<Tables['payment_orders']>
export type PaymentRow = Selectable<Tables['payments']>
export type NotificationSettingsRow = Selectable<Tables['notification_settings']>
export type NotificationMarkRow = Selectable<Tables['notification_marks']>
