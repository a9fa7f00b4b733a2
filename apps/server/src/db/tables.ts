import type { Kysely, Selectable, Transaction } from 'kysely'
import type { AppTables } from './tables/apps.ts'
import type { ClientTables } from './tables/clients.ts'
import type { CompatibilityTables } from './tables/compatibility.ts'
import type { CountTables } from './tables/counts.ts'
import type { CustomerMailTables } from './tables/customer-mails.ts'
import type { CustomerTables } from './tables/customers.ts'
import type { DataImportTables } from './tables/imports.ts'
import type { LazyMoveTables } from './tables/lazy-moves.ts'
import type { LicenseTables } from './tables/licenses.ts'
import type { MailTables } from './tables/mails.ts'
import type { NotificationTables } from './tables/notifications.ts'
import type { OwnerTables } from './tables/owners.ts'
import type { PaymentTables } from './tables/payments.ts'
import type { RecordTables } from './tables/records.ts'
import type { ResellerTables } from './tables/resellers.ts'
import type { SaleTables } from './tables/sales.ts'
import type { SecondFactorTables } from './tables/second-factors.ts'
import type { ShopTables } from './tables/shops.ts'
import type { WebhookTables } from './tables/webhooks.ts'

/** Times are milliseconds since 1970. */
export interface Tables
  extends OwnerTables,
    AppTables,
    ResellerTables,
    LazyMoveTables,
    LicenseTables,
    ClientTables,
    CompatibilityTables,
    CountTables,
    CustomerTables,
    CustomerMailTables,
    RecordTables,
    MailTables,
    NotificationTables,
    SecondFactorTables,
    WebhookTables,
    ShopTables,
    SaleTables,
    DataImportTables,
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
export type DataImportRow = Selectable<Tables['data_imports']>
export type DataImportFileRow = Selectable<Tables['data_import_files']>
export type DataImportReportRow = Selectable<Tables['data_import_rows']>
export type ErasureRow = Selectable<Tables['erasures']>
export type ShopRow = Selectable<Tables['shops']>
export type ShopEventRow = Selectable<Tables['shop_events']>
export type ShopOrderRow = Selectable<Tables['shop_orders']>
export type ShopOrderUnitRow = Selectable<Tables['shop_order_units']>
export type SecondFactorRow = Selectable<Tables['second_factors']>
export type PasskeyRow = Selectable<Tables['passkeys']>
export type AppMailRow = Selectable<Tables['app_mails']>
export type ProfileRow = Selectable<Tables['profiles']>
export type CompatibilityRow = Selectable<Tables['compatibility']>
export type AppRow = Selectable<Tables['apps']>
export type SigningKeyRow = Selectable<Tables['signing_keys']>
export type ReleaseRow = Selectable<Tables['releases']>
export type BlockRow = Selectable<Tables['blocklist']>
export type ResellerRow = Selectable<Tables['resellers']>
export type LazyMoveRow = Selectable<Tables['lazy_moves']>
export type GrantRow = Selectable<Tables['grants']>
/** Without the note of its reseller, which the portal alone reads. */
export type LicenseRow = Omit<Selectable<Tables['licenses']>, 'reseller_note'>
export type LicenseTypeRow = Selectable<Tables['license_types']>
export type ClientRow = Selectable<Tables['clients']>
export type CustomerMailRow = Selectable<Tables['customer_mails']>
export type CustomerRow = Selectable<Tables['customers']>
export type DeviceRow = Selectable<Tables['devices']>
export type DeviceTokenRow = Selectable<Tables['device_tokens']>
export type OfflineActivationRow = Selectable<Tables['offline_activations']>
export type ActivityRow = Selectable<Tables['activity']>
export type CouponRow = Selectable<Tables['coupons']>
export type OrderRow = Selectable<Tables['payment_orders']>
export type PaymentRow = Selectable<Tables['payments']>
export type NotificationSettingsRow = Selectable<Tables['notification_settings']>
export type NotificationMarkRow = Selectable<Tables['notification_marks']>
