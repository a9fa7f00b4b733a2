import { z } from 'zod'
import { mailKinds } from './app-mail-text.ts'
import { appSettings } from './app-settings.ts'
import { limits } from './constants.ts'
import { customerMailSettings } from './customer-mails.ts'
import { customerKinds } from './customer-page.ts'
import { memberRole } from './members.ts'
import { notificationSettings } from './notifications.ts'
import { fieldsOfRelease } from './releases.ts'
import { duration, licenseTerm } from './terms.ts'
import { pauseReasons } from './webhook-pauses.ts'

const nothing = z.strictObject({})
const count = z.int().min(0)
/** Milliseconds since 1970, or null. */
const time = z.int().nullable()
const id = z.string().max(64)
const ids = z.array(id).max(Math.max(limits.bulkMax, limits.generateMax))
const flag = z.boolean()
const names = z.array(z.string().max(20)).max(10)

/** A value before and after a change. */
/** Limits in place of those of the plan; null for those of the plan. */
const vendorLimits = z.strictObject({
  apps: z.int().nullable(),
  licensesPerApp: z.int().nullable(),
  mails: z.int().nullable().optional(),
})
const changeOf = <T extends z.ZodType>(value: T) => z.strictObject({ before: value, after: value })

const whichMail = { kind: z.enum(mailKinds).optional(), locale: z.string().optional() }

const appFields = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    paused: flag,
    ...appSettings.shape,
  })
  .partial()
const compatibilityFields = z
  .strictObject({
    enabled: flag,
    name: z.string(),
    ownerId: z.string(),
    protocols: z.array(z.string()).max(4),
  })
  .partial()
const messages = z.record(z.string(), z.string())
/** By days of 24 hours, or by a duration of the calendar. */
const extension = z.strictObject({ ids, days: z.int().optional(), duration: duration.optional() })
const reason = z.string().nullable()
const banned = z.strictObject({ reason: reason.optional() })
const blockKind = z.enum(['hwid', 'address'])
const licenseTypeFields = z
  .strictObject({
    name: z.string(),
    term: licenseTerm,
    duration: duration.nullable(),
    graceDays: z.int(),
    devices: z.int(),
    seats: z.int().nullable(),
    seatTimeoutSeconds: z.int(),
    features: z.array(z.string()),
    updatesForDays: z.int().nullable(),
    trial: flag,
    keyPrefix: z.string().nullable(),
    resellable: flag,
    buyUrl: z.string().nullable(),
    renewUrl: z.string().nullable(),
    upgrades: z.array(z.strictObject({ type: id, name: z.string(), url: z.string() })),
    fallbackAfterMonths: z.int().nullable(),
  })
  .partial()
const releaseFields = z.strictObject({ ...fieldsOfRelease, releasedAt: time }).partial()
const licenseFields = z
  .strictObject({
    /** The name of the license type. */
    type: z.string().nullable(),
    term: licenseTerm,
    duration: duration.nullable(),
    graceDays: z.int(),
    devices: z.int(),
    seats: z.int().nullable(),
    seatTimeoutSeconds: z.int(),
    features: z.array(z.string()),
    updatesForDays: z.int().nullable(),
    trial: flag,
    note: z.string().nullable(),
    customer: id.nullable(),
  })
  .partial()
const resellerFields = z.strictObject({ licenseLimit: z.int(), active: flag }).partial()
const memberRights = {
  role: memberRole,
  /** What the role `custom` may do. */
  permissions: z.array(z.string()).optional(),
  apps: ids.nullable(),
}
/** Values of variables can be secrets. */
const variableNames = z.array(z.string()).max(limits.variablesMax)
const variableChange = z.strictObject({
  added: variableNames,
  changed: variableNames,
  removed: variableNames,
})
/** The logo as the SHA-256 of its bytes. */
const profileFields = z
  .strictObject({ name: z.string().nullable(), support: z.string().nullable(), logo: z.string().nullable() })
  .partial()
const settingsFields = z.strictObject({ pauseApplications: flag, hwidLock: flag, requireSecondFactor: flag })
/** Addresses are recorded without their path, which can hold a token. */
const webhookFields = z
  .strictObject({ origin: z.string(), events: z.array(z.string()), apps: ids.nullable(), active: flag })
  .partial()
const shopFields = z
  .strictObject({
    name: z.string(),
    /** How many products it has. */
    products: z.int(),
    active: flag,
  })
  .partial()
const lazyMoveFields = z.strictObject({
  origin: z.string(),
  protocol: z.string(),
  name: z.string(),
  ownerId: z.string(),
  /** Whether answers must be signed. */
  verified: flag,
  until: time,
})
const passkeyName = z.strictObject({ name: z.string() })
const plan = z.strictObject({ plan: z.enum(['free', 'premium']), until: time })
const coupon = z.strictObject({
  percent: z.int(),
  from: time,
  until: time,
  uses: z.int().nullable(),
  usesPerOwner: z.int().nullable(),
  listed: flag,
  active: flag,
})
const payment = z.strictObject({
  orderId: id,
  amount: z.int(),
  currency: z.string(),
  premiumUntil: time,
})

/**
 * Every recorded action with the schema of its detail: what changed, with before and after unless the name says it.
 * Details contain no secrets. The audit log stores at most `limits.recordDetailBytes` of each: longer parts become a count
 * and a digest.
 */
export const actions = {
  'owner.registered': nothing,
  'owner.signed_in': nothing,
  'owner.signed_out': nothing,
  'owner.password_changed': nothing,
  'owner.email_changed': changeOf(z.string()),
  'owner.email_confirmation_requested': nothing,
  'owner.email_confirmed': nothing,
  'owner.password_reset_requested': nothing,
  'owner.password_reset': nothing,
  'owner.session_ended': z.strictObject({ session: id }),
  'owner.sessions_ended': nothing,
  /** Proved again who is signed in. */
  'owner.identity_confirmed': nothing,
  'owner.second_factor_asked': nothing,
  'owner.totp_added': nothing,
  'owner.totp_removed': nothing,
  'owner.passkey_added': passkeyName,
  'owner.passkey_removed': passkeyName,
  'owner.recovery_code_used': z.strictObject({ left: count }),
  'owner.second_factors_removed': nothing,

  'api_key.created': z.strictObject({
    name: z.string(),
    permissions: z.array(z.string()),
    apps: z.array(id).nullable(),
    expiresAt: time,
    networks: z.array(z.string()),
  }),
  'api_key.revoked': z.strictObject({ name: z.string() }),
  /** All keys of a vendor. */
  'api_keys.revoked': z.strictObject({ count }),
  'account.deleted': nothing,
  /** At the vendor account itself: the people who owned it before and after. */
  'vendor.handed_over': changeOf(id),
  /** By the operator; with `programs` also those of the vendor are refused. */
  'vendor.disabled': z.strictObject({ programs: z.boolean() }),
  'vendor.enabled': nothing,
  'vendor.deleted': z.strictObject({ account: id }),
  'vendor.limits_set': changeOf(vendorLimits),
  'vendor.profile_changed': changeOf(profileFields),
  'member.invited': z.strictObject({ email: z.string(), ...memberRights }),
  'member.joined': nothing,
  'member.updated': changeOf(z.strictObject(memberRights)),
  'member.removed': z.strictObject({ email: z.string().nullable(), account: id.nullable() }),
  'member.left': z.strictObject({ account: id }),

  'app.created': z.strictObject({ name: z.string() }),
  'app.updated': changeOf(appFields),
  'app.secret_rotated': nothing,
  'app.program_hashes_changed': z.strictObject({ before: z.int(), after: z.int() }),
  'app.signing_key_created': z.strictObject({ kid: id }),
  'app.signing_key_promoted': z.strictObject({ kid: id, retired: id }),
  'app.signing_key_revoked': z.strictObject({ kid: id }),
  'app.compatibility_changed': z.strictObject({
    before: compatibilityFields,
    after: compatibilityFields,
    secretChanged: flag,
  }),
  'app.messages_changed': z.strictObject({
    locale: z.string().optional(),
    before: messages,
    after: messages,
  }),
  'app.messages_reset': z.strictObject({ locale: z.string().optional(), before: messages }),
  'app.profile_changed': changeOf(profileFields),
  /** `changed` names the parts, not the texts. */
  'app.mail_changed': z.strictObject({ ...whichMail, changed: z.array(z.string()) }),
  'app.mail_reset': z.strictObject(whichMail),
  'app.mail_tested': z.strictObject(whichMail),
  'app.customer_mails_changed': changeOf(customerMailSettings),
  /** Without the secret; the address without its path. */
  'app.lazy_move_changed': changeOf(lazyMoveFields.nullable()),
  'app.deletion_started': z.strictObject({ name: z.string() }),
  'app.deleted': z.strictObject({ name: z.string() }),

  'license_type.created': z.strictObject({ appId: id, name: z.string() }),
  'license_type.updated': changeOf(licenseTypeFields).extend({ applyTo: z.enum(['new', 'all']) }),
  'license_type.slice_applied': z.strictObject({ count }),
  'license_type.applied': z.strictObject({ count }),
  'license_type.deleted': z.strictObject({ appId: id, name: z.string() }),
  'app.variables_changed': variableChange,
  'release.added': z.strictObject({ appId: id, version: z.string(), releasedAt: time }),
  'release.updated': changeOf(releaseFields),
  'release.withdrawn': z.strictObject({ appId: id, version: z.string() }),
  'release.notified': z.strictObject({ appId: id, version: z.string(), count }),
  'release.removed': z.strictObject({ appId: id, version: z.string() }),

  /** `resellerId` if a vendor generated them for a reseller. */
  'licenses.created': z.strictObject({ count, ids, resellerId: id.optional(), mailed: flag.optional() }),
  'licenses.imported': z.strictObject({ count }),
  'import.created': z.strictObject({ preset: z.string() }),
  'import.file_stored': z.strictObject({ name: z.string(), bytes: count }),
  'import.started': z.strictObject({ dryRun: z.boolean() }),
  'import.finished': z.strictObject({
    ...{ dryRun: z.boolean(), licenses: count, clients: count, skipped: count, failed: count },
  }),
  'import.failed': z.strictObject({ reason: z.string() }),
  'import.undo_started': nothing,
  'import.undone': z.strictObject({ kept: count }),
  'license.expiry_changed': changeOf(time),
  'license.renewed': changeOf(time).extend({ order: z.string() }),
  'license.updated': changeOf(licenseFields),
  'license.banned': banned,
  'license.unbanned': nothing,
  'license.mailed': nothing,
  'license.noted': nothing,
  /** `hint` is the beginning of its key. */
  'license.deleted': z.strictObject({ used: flag, hint: z.string() }),
  'license.redeemed': z.strictObject({ endUserId: id, expiresAt: time }),
  'licenses.extended': extension,
  /** `after` is null for never. */
  'licenses.expiry_changed': z.strictObject({ ids, after: time }),
  'licenses.ends_restored': z.strictObject({ ids }),
  'licenses.banned': z.strictObject({ ids, reason: reason.optional() }),
  'licenses.unbanned': z.strictObject({ ids }),
  'licenses.deleted': z.strictObject({ ids }),
  'licenses.deletion_started': z.strictObject({ appId: id.nullable(), resellerId: id.nullable() }),
  'licenses.slice_deleted': z.strictObject({ count }),
  'licenses.deletion_finished': z.strictObject({ count }),

  'end_user.created': z.strictObject({ expiresAt: time }),
  'end_user.registered': z.strictObject({ licenseId: id }),
  /** Taken over from the old provider of the app at a sign-in. */
  'end_user.moved': z.strictObject({ licenseId: id }),
  'end_user.banned': banned,
  'end_user.unbanned': nothing,
  'end_user.paused': nothing,
  'end_user.resumed': z.strictObject({ before: time, after: time }),
  'end_user.hwid_reset': z.strictObject({ wasBound: flag }),
  'end_user.extended': z.strictObject({ days: z.int(), before: time, after: time }),
  /** Names the fields without their values, which an erasure would have to find. */
  'end_user.updated': z.strictObject({ fields: names }),
  'end_user.expiry_changed': changeOf(time),
  'end_user.password_set': nothing,
  'end_user.password_link_mailed': nothing,
  'end_user.deleted': nothing,
  'device.bound': z.strictObject({ endUserId: id }),
  'device.drifted': z.strictObject({ endUserId: id }),
  'device.remembered': z.strictObject({ endUserId: id }),
  /** A remembered sign-in ended because a replaced token was used again. */
  'device.forgotten': z.strictObject({ endUserId: id }),
  'device.freed': z.strictObject({ endUserId: id }),
  'end_user.variables_changed': variableChange,
  'end_user.signed_in': nothing,
  'end_user.signed_out': nothing,
  /** Until when the program may run offline. */
  'end_user.lease_issued': z.strictObject({ until: z.int() }),
  /** A machine that is never online got a file; `until` is null for never. */
  'end_user.activated_offline': z.strictObject({ activationId: id, until: time }),
  'end_user.deactivated_offline': z.strictObject({ activationId: id, deviceFreed: flag }),
  'end_users.extended': extension,
  'end_users.expiry_changed': z.strictObject({ ids, after: time }),
  'end_users.ends_restored': z.strictObject({ ids }),
  'end_users.banned': z.strictObject({ ids, reason: reason.optional() }),
  'end_users.unbanned': z.strictObject({ ids }),
  'end_users.hwid_reset': z.strictObject({ ids }),
  'end_users.deleted': z.strictObject({ ids }),
  'end_users.slice_deleted': z.strictObject({ count }),

  /** Records name no address, which an erasure would have to find. */
  'customer.created': nothing,
  'customer.updated': z.strictObject({ fields: names }),
  /** A sign-in to the page of an app. */
  'customer.signed_in': z.strictObject({ kind: z.enum(customerKinds) }),
  'customer.signed_out': nothing,
  'customer.link_requested': nothing,
  /** By a link in a mail, or by a mail program. */
  'customer.unsubscribed': nothing,
  'customer.erased': z.strictObject({ endUsers: count, licenses: count }),

  'block.added': z.strictObject({ appId: id, kind: blockKind, value: z.string(), reason }),
  'block.removed': z.strictObject({ appId: id, kind: blockKind, value: z.string() }),

  'reseller.created': z.strictObject({ appId: id, licenseLimit: z.int() }),
  'reseller.updated': changeOf(resellerFields),
  'reseller.deleted': z.strictObject({ email: z.string() }),
  'reseller.signed_in': nothing,
  'reseller.signed_out': nothing,
  'reseller.password_reset_requested': nothing,
  'reseller.password_reset': nothing,
  'reseller.session_ended': z.strictObject({ session: id }),
  'reseller.sessions_ended': nothing,
  'reseller.identity_confirmed': nothing,
  'reseller.second_factor_asked': nothing,
  'reseller.totp_added': nothing,
  'reseller.totp_removed': nothing,
  'reseller.passkey_added': passkeyName,
  'reseller.passkey_removed': passkeyName,
  'reseller.recovery_code_used': z.strictObject({ left: count }),
  'reseller.second_factors_removed': nothing,

  'webhook.created': z.strictObject({
    origin: z.string(),
    events: z.array(z.string()),
    apps: ids.nullable(),
    format: z.enum(['standard', 'discord']),
  }),
  'webhook.updated': changeOf(webhookFields),
  'webhook.deleted': z.strictObject({ origin: z.string() }),
  'webhook.secret_rotated': nothing,
  'webhook.tested': z.strictObject({ delivery: id }),
  'webhook.delivery_retried': z.strictObject({ delivery: id }),
  /** The server paused it: it failed for too long, or the person or API key that saved it last has lost access. */
  'webhook.paused': z.strictObject({ reason: z.enum(pauseReasons) }),

  'shop.created': z.strictObject({ name: z.string(), kind: z.string() }),
  'shop.updated': changeOf(shopFields),
  'shop.deleted': z.strictObject({ name: z.string() }),
  'shop.tested': z.strictObject({ order: z.string() }),
  /** The shop told of an order, or of something about it, for the first time. */
  'shop_order.received': z.strictObject({ order: z.string() }),
  'shop_order.fulfilled': z.strictObject({ order: z.string(), ids }),
  'shop_order.waiting': z.strictObject({ order: z.string(), reason: z.string() }),
  'shop_order.refunded': z.strictObject({ order: z.string() }),
  'shop_order.disputed': z.strictObject({ order: z.string() }),
  'shop_order.dispute_won': z.strictObject({ order: z.string() }),
  /** A renewal, a failed payment or the end of a subscription. */
  'shop_order.end_changed': changeOf(time).extend({ order: z.string() }),
  'shop_order.product_changed': changeOf(z.string().nullable()).extend({ order: z.string() }),
  'shop_order.retried': z.strictObject({
    order: z.string(),
    choice: z.string().optional(),
    ids: ids.optional(),
  }),
  'shop_order.addressed': z.strictObject({ order: z.string() }),
  'shop_order.mail_resent': z.strictObject({ order: z.string() }),

  'settings.updated': changeOf(settingsFields),
  /** The mails that a person gets; the target is its account. */
  'notifications.updated': changeOf(notificationSettings),
  'platform.reset_started': nothing,
  'platform.reset': nothing,

  'plan.set': changeOf(plan),
  'plan.cancelled': z.strictObject({ refund: z.int() }),
  'plan.paid': payment,
  'plan.taken_back': payment,
  'plan.restored': payment,
  'order.created': z.strictObject({ duration: z.string(), amount: z.int(), currency: z.string() }),
  'payment.updated': z.strictObject({ orderId: id, status: z.string() }),
  'payment.refund_due': payment,
  'coupon.set': z.strictObject({ before: coupon.nullable(), after: coupon }),
  'coupon.ended': z.strictObject({ before: coupon }),
} as const satisfies Record<string, z.ZodType>

export type ActionName = keyof typeof actions
/** Actions on an app or on something that belongs to one. */
export type ActionOnApp = Extract<
  ActionName,
  | `${'app' | 'license_type' | 'release' | 'license' | 'licenses' | 'shop' | 'shop_order' | 'end_user' | 'end_users' | 'import' | 'device' | 'block'}.${string}`
  | `reseller.${'created' | 'updated' | 'deleted'}`
>
export type ActionDetail<N extends ActionName> = z.output<(typeof actions)[N]>

/**
 * Actions that the same actor can repeat on the same object as often as it likes, each time replacing what it did before. Of those that
 * are older than `limits.recordThinDays`, the audit log keeps the last one of each day.
 */
export const thinnedActions: ReadonlySet<ActionName> = new Set([
  'owner.signed_in',
  'owner.signed_out',
  'owner.session_ended',
  'owner.identity_confirmed',
  'owner.email_confirmation_requested',
  'owner.email_confirmed',
  'owner.password_reset_requested',
  'owner.second_factor_asked',
  'reseller.signed_in',
  'reseller.signed_out',
  'reseller.session_ended',
  'reseller.identity_confirmed',
  'reseller.password_reset_requested',
  'reseller.second_factor_asked',
  'settings.updated',
  'notifications.updated',
  'member.updated',
  'app.updated',
  'app.compatibility_changed',
  'app.messages_changed',
  'app.messages_reset',
  'app.mail_changed',
  'app.mail_reset',
  'app.mail_tested',
  'app.customer_mails_changed',
  'app.lazy_move_changed',
  'app.variables_changed',
  'app.program_hashes_changed',
  'license_type.updated',
  'license_type.slice_applied',
  'licenses.slice_deleted',
  'end_users.slice_deleted',
  'end_user.variables_changed',
  'end_user.password_link_mailed',
  'customer.link_requested',
  'device.drifted',
  'device.freed',
  'device.forgotten',
  'webhook.updated',
  'webhook.tested',
  'webhook.delivery_retried',
  'shop.updated',
  'shop.tested',
  'shop_order.retried',
  'shop_order.mail_resent',
  'license.mailed',
  'license.noted',
])
