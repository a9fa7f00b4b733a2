import type { ActionName } from './actions.ts'
import type { Permission } from './permissions.ts'

// This file has no schemas: a page of the console imports it, and would load all of them.

type NounOf<Name extends string> = Name extends `${infer Noun}.${string}` ? Noun : never

/** The permission that reading events about a noun needs: that of the calls which return the object. */
const permissionOf = {
  app: 'apps:read',
  license_type: 'apps:read',
  release: 'apps:read',
  license: 'licenses:read',
  licenses: 'licenses:read',
  import: 'licenses:read',
  end_user: 'clients:read',
  end_users: 'clients:read',
  device: 'clients:read',
  customer: 'clients:read',
  block: 'clients:read',
  program: 'clients:read',
  reseller: 'resellers:read',
  plan: 'billing:read',
  order: 'billing:read',
  payment: 'billing:read',
  coupon: 'billing:read',
  member: 'members:read',
  webhook: 'webhooks:read',
  shop: 'apps:read',
  shop_order: 'licenses:read',
  settings: 'settings:read',
  platform: 'settings:read',
  // Sign-ins, factors, keys, own mails and who owns the account: only the owner lists these, but the audit log shows that they changed.
  owner: 'audit:read',
  account: 'audit:read',
  vendor: 'audit:read',
  api_key: 'audit:read',
  api_keys: 'audit:read',
  notifications: 'audit:read',
} as const satisfies Record<NounOf<ActionName> | 'program', Permission>

/** Whether webhooks can deliver an action. Every action has its row. */
const isEvent = {
  'owner.registered': true,
  'owner.signed_in': true,
  'owner.signed_out': true,
  'owner.password_changed': true,
  'owner.email_changed': true,
  'owner.email_confirmation_requested': true,
  'owner.email_confirmed': true,
  'owner.password_reset_requested': true,
  'owner.password_reset': true,
  'owner.session_ended': true,
  'owner.sessions_ended': true,
  'owner.identity_confirmed': true,
  'owner.second_factor_asked': true,
  'owner.totp_added': true,
  'owner.totp_removed': true,
  'owner.passkey_added': true,
  'owner.passkey_removed': true,
  'owner.recovery_code_used': true,
  'owner.second_factors_removed': true,
  'api_key.created': true,
  'api_key.revoked': true,
  'api_keys.revoked': true,
  // The account of a person who belongs to no vendor, so that no webhook is there to deliver it.
  'account.deleted': false,
  'vendor.handed_over': true,
  'vendor.profile_changed': true,
  'member.invited': true,
  'member.joined': true,
  'member.updated': true,
  'member.removed': true,
  'member.left': true,
  'app.created': true,
  'app.updated': true,
  'app.secret_rotated': true,
  'app.program_hashes_changed': true,
  'app.signing_key_created': true,
  'app.signing_key_promoted': true,
  'app.signing_key_revoked': true,
  'app.compatibility_changed': true,
  'app.messages_changed': true,
  'app.messages_reset': true,
  'app.mail_changed': true,
  'app.mail_reset': true,
  'app.mail_tested': true,
  'app.profile_changed': true,
  'app.customer_mails_changed': true,
  'app.lazy_move_changed': true,
  'app.variables_changed': true,
  'app.deletion_started': true,
  'app.deleted': true,
  'license_type.created': true,
  'license_type.updated': true,
  'license_type.slice_applied': false,
  'license_type.applied': true,
  'license_type.deleted': true,
  'release.added': true,
  'release.updated': true,
  'release.withdrawn': true,
  'release.notified': false,
  'release.removed': true,
  'licenses.created': true,
  'licenses.imported': true,
  'import.created': true,
  'import.file_stored': true,
  'import.started': true,
  'import.finished': true,
  'import.failed': true,
  'import.undo_started': true,
  'import.undone': true,
  'license.expiry_changed': true,
  'license.renewed': true,
  'license.updated': true,
  'license.banned': true,
  'license.unbanned': true,
  'license.mailed': true,
  'license.noted': false,
  'license.deleted': true,
  'license.redeemed': true,
  'licenses.extended': true,
  'licenses.expiry_changed': true,
  'licenses.ends_restored': true,
  'licenses.banned': true,
  'licenses.unbanned': true,
  'licenses.deleted': true,
  'licenses.deletion_started': true,
  'licenses.slice_deleted': false,
  'licenses.deletion_finished': true,
  'end_user.created': true,
  'end_user.registered': true,
  'end_user.moved': true,
  'end_user.banned': true,
  'end_user.unbanned': true,
  'end_user.paused': true,
  'end_user.resumed': true,
  'end_user.hwid_reset': true,
  'end_user.extended': true,
  'end_user.updated': true,
  'end_user.expiry_changed': true,
  'end_user.password_set': true,
  'end_user.password_link_mailed': true,
  'end_user.deleted': true,
  'end_user.variables_changed': true,
  'end_user.activated_offline': true,
  'end_user.deactivated_offline': true,
  // The audit log leaves these out: programs cause them all the time.
  'end_user.signed_in': false,
  'end_user.signed_out': false,
  'end_user.lease_issued': false,
  'device.bound': false,
  'device.remembered': false,
  // Unless a program causes them.
  'device.drifted': true,
  'device.forgotten': true,
  'device.freed': true,
  'end_users.extended': true,
  'end_users.expiry_changed': true,
  'end_users.ends_restored': true,
  'end_users.banned': true,
  'end_users.unbanned': true,
  'end_users.hwid_reset': true,
  'end_users.deleted': true,
  'end_users.slice_deleted': false,
  'customer.created': true,
  'customer.updated': true,
  'customer.signed_in': false,
  'customer.signed_out': false,
  'customer.link_requested': true,
  'customer.unsubscribed': true,
  'customer.erased': true,
  'block.added': true,
  'block.removed': true,
  'reseller.created': true,
  'reseller.updated': true,
  'reseller.deleted': true,
  'reseller.signed_in': true,
  'reseller.signed_out': true,
  'reseller.password_reset_requested': true,
  'reseller.password_reset': true,
  'reseller.session_ended': true,
  'reseller.sessions_ended': true,
  'reseller.identity_confirmed': true,
  'reseller.second_factor_asked': true,
  'reseller.totp_added': true,
  'reseller.totp_removed': true,
  'reseller.passkey_added': true,
  'reseller.passkey_removed': true,
  'reseller.recovery_code_used': true,
  'reseller.second_factors_removed': true,
  'webhook.created': true,
  'webhook.updated': true,
  'webhook.deleted': true,
  'webhook.secret_rotated': true,
  'webhook.tested': true,
  'webhook.delivery_retried': true,
  'webhook.paused': true,
  'shop.created': true,
  'shop.updated': true,
  'shop.deleted': true,
  'shop.tested': true,
  'shop_order.received': true,
  'shop_order.fulfilled': true,
  'shop_order.waiting': true,
  'shop_order.refunded': true,
  'shop_order.disputed': true,
  'shop_order.dispute_won': true,
  'shop_order.end_changed': true,
  'shop_order.product_changed': true,
  'shop_order.retried': true,
  'shop_order.addressed': true,
  'shop_order.mail_resent': true,
  'settings.updated': true,
  'notifications.updated': true,
  'platform.reset_started': true,
  'platform.reset': true,
  'vendor.disabled': true,
  'vendor.enabled': true,
  // It is recorded without its vendor, which is gone.
  'vendor.deleted': false,
  'vendor.limits_set': true,
  'plan.set': true,
  'plan.cancelled': true,
  'plan.paid': true,
  'plan.taken_back': true,
  'plan.restored': true,
  'order.created': true,
  'payment.updated': true,
  'payment.refund_due': true,
  // Coupons are the operator's and belong to no vendor.
  'coupon.set': false,
  'coupon.ended': false,
} as const satisfies Record<ActionName, boolean>

/** An event that webhooks deliver: an action of the audit log, or a refusal. */
export type EventName =
  | { [Name in ActionName]: (typeof isEvent)[Name] extends true ? Name : never }[ActionName]
  | 'program.refused'

const names = Object.keys(isEvent) as ActionName[]

/** All events, refusals last. */
export const eventNames: readonly EventName[] = [
  ...names.filter((name): name is Exclude<EventName, 'program.refused'> => isEvent[name]),
  /** A program was refused; at most once a minute per end user and code. */
  'program.refused',
]

/** What `POST /webhooks/{id}/test` sends, whatever events the webhook has chosen. */
export const testEvent = 'webhook.test'

/** Everything that a delivery can carry. */
export type DeliveredName = EventName | typeof testEvent

/** The noun of an event's object, and the permission that reading the event needs. */
export const eventFacts = (name: DeliveredName): { noun: EventNoun; permission: Permission } => ({
  noun: nounOf(name),
  permission: readPermissionOf(name),
})

/** The permission that reading the object and the detail of an action or event needs. */
export const readPermissionOf = (name: ActionName | DeliveredName): Permission =>
  // Its detail has the addresses of a person.
  name === 'owner.email_changed' ? 'members:read' : permissionOf[nounOf(name)]

const nounOf = <Name extends ActionName | DeliveredName>(name: Name) =>
  name.slice(0, name.indexOf('.')) as NounOf<Name>

/** What an event is about; the plural nouns are actions on many at once. */
export type EventNoun = NounOf<DeliveredName>

export const isEventName = (name: string): name is EventName =>
  name === 'program.refused' || (Object.hasOwn(isEvent, name) && isEvent[name as ActionName])
