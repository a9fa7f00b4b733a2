import { accountSessions, portalSessions } from './account-sessions.ts'
import { activity } from './activity.ts'
import { apiKeys } from './api-keys.ts'
import { appMails } from './app-mails.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { auth, secondFactor } from './auth.ts'
import { blocklist } from './blocklist.ts'
import { bulk } from './bulk.ts'
import { program } from './client.ts'
import { clients } from './clients.ts'
import { compatibility } from './compatibility.ts'
import { customerMails, unsubscribing } from './customer-mails.ts'
import { customerPage } from './customer-page.ts'
import { customers } from './customers.ts'
import { dashboard } from './dashboard.ts'
import { events } from './events.ts'
import { exposure } from './exposure.ts'
import { imports } from './imports.ts'
import { lazyMove } from './lazy-move.ts'
import { licenseTypes } from './license-types.ts'
import { licenses } from './licenses.ts'
import { members } from './members.ts'
import { notifications } from './notifications.ts'
import { offlineActivations } from './offline-activations.ts'
import { payments } from './payments.ts'
import { plans } from './plans.ts'
import { portal, portalSecondFactor } from './portal.ts'
import { profiles } from './profiles.ts'
import { releases } from './releases.ts'
import { resellers } from './resellers.ts'
import { sales } from './sales.ts'
import { settings } from './settings.ts'
import { hooks, orders, shops } from './shops.ts'
import { signingKeys } from './signing-keys.ts'
import { system } from './system.ts'
import { variables } from './variables.ts'
import { vendors } from './vendors.ts'
import { webhooks } from './webhooks.ts'

/** Every call of the API by noun. */
export const endpoints = {
  auth,
  apiKeys,
  webhooks,
  shops,
  orders,
  sales,
  hooks,
  accountSessions,
  members,
  vendors,
  secondFactor,
  apps,
  appMails,
  profiles,
  lazyMove,
  blocklist,
  signingKeys,
  compatibility,
  activity,
  audit,
  licenses,
  licenseTypes,
  clients,
  customers,
  customerMails,
  unsubscribing,
  customerPage,
  resellers,
  portal,
  portalSessions,
  portalSecondFactor,
  offlineActivations,
  variables,
  releases,
  exposure,
  plans,
  payments,
  bulk,
  imports,
  dashboard,
  events,
  settings,
  notifications,
  program,
  system,
}

export type { AccountSession } from './account-sessions.ts'
export { actionLabels } from './action-labels.ts'
export type { ActionDetail, ActionName, ActionOnApp } from './actions.ts'
export { actions, thinnedActions } from './actions.ts'
export type { ActivityEvent, ActivityFilterKind, ActivityKind, Fix, RefusalState } from './activity.ts'
export type { ApiKey } from './api-keys.ts'
export { apiKeyPattern, newApiKey } from './api-keys.ts'
export type { MailKind, MailTemplate, MailValues, RenderedMail } from './app-mail-text.ts'
export { mailKinds, placeholdersOf, renderMail, toPersonName, toPlainText } from './app-mail-text.ts'
export type { AppMail } from './app-mails.ts'
export { misplaced, newAppMail } from './app-mails.ts'
export type { AppSettings } from './app-settings.ts'
export type { App } from './apps.ts'
export type { AuditRecord } from './audit.ts'
export type { Subscription, User } from './auth.ts'
export type { Block, ProgramHash } from './blocklist.ts'
export { blockKinds } from './blocklist.ts'
export type { BulkClientAction, BulkLicenseAction, ImportedRow } from './bulk.ts'
export type { Links, TypeUpgrade } from './buy-links.ts'
export type { Advisory, RefusalDetails, SessionUser, Verdict } from './client.ts'
export type { Client, ClientStatus, ListedClient, ListedClientStatus, OwnersDevice } from './clients.ts'
export type { Compatibility, CompatibilityProtocol } from './compatibility.ts'
export { compatibilityProtocols } from './compatibility.ts'
export {
  customerMailStates,
  limits,
  longestExtension,
  orderChoices,
  orderReasonCodes,
  orderStates,
  saleKinds,
  shopKinds,
  unlimited,
  versionPattern,
} from './constants.ts'
export { fromCsvCell, toCsvLine } from './csv.ts'
export type { CustomerMailSettings, ToldCustomer } from './customer-mails.ts'
export { customerMailSettings } from './customer-mails.ts'
export type {
  CustomerKind,
  CustomerPage,
  CustomerSelf,
  OwnEndUser,
  OwnLicense,
  OwnOrder,
} from './customer-page.ts'
export { customerKinds } from './customer-page.ts'
export { customerPageAddress } from './customer-page-address.ts'
export type { Customer, CustomerMail } from './customers.ts'
export type { Attention } from './dashboard.ts'
export type { Device, DeviceUse, PartName, SentDevice } from './devices.ts'
export { partNames, partsThatDecide, placeholderParts } from './devices.ts'
export { isEmailAddress, toAsciiDomain } from './email-address.ts'
export type {
  Access,
  BodyInputOf,
  BodyOf,
  DataOf,
  Endpoint,
  ParamsOf,
  QueryInputOf,
  QueryOf,
} from './endpoint.ts'
export { isBudgeted } from './endpoint.ts'
export type { ErrorCode, MessageKey } from './errors.ts'
export { errorCodes, errorFacts } from './errors.ts'
export type { DeliveredName, EventName, EventNoun } from './event-types.ts'
export { eventFacts, eventNames, isEventName, readPermissionOf, testEvent } from './event-types.ts'
export type { ExportColumns, TermsColumn } from './exports.ts'
export {
  auditExport,
  clientExport,
  customerExport,
  exposedCustomerExport,
  importReportExport,
  licenseExport,
  portalLicenseExport,
  termsExport,
  toExportHeader,
  toExportLine,
} from './exports.ts'
export type { ExposedCustomer, Exposure, VersionsInUse } from './exposure.ts'
export type { AddedRights, Grant, OwnRights } from './grants.ts'
export { imageOf } from './images.ts'
export type {
  Import,
  ImportField,
  ImportMapping,
  ImportOutcome,
  ImportPreset,
  ImportQuestion,
  ImportQuestionName,
  ImportReportRow,
  ImportState,
} from './imports.ts'
export { importFields, importPresets } from './imports.ts'
export { canonicalLocale, lookupTags } from './language-tags.ts'
export type { LazyMove, OldProtocol } from './lazy-move.ts'
export { newLazyMove, oldProtocols } from './lazy-move.ts'
export { leaseEndings } from './lease-endings.ts'
export { licenseStatus } from './license-status.ts'
export { termsDefaults, termsFields } from './license-terms.ts'
export type { LicenseType } from './license-types.ts'
export type {
  License,
  LicenseDetails,
  LicenseStatus,
  ListedLicense,
  ListedLicenseStatus,
} from './licenses.ts'
export { customKey, licenseDetails, licenseNote } from './licenses.ts'
export { fillLink, linkIssue, shopLinkIssue, withParameter } from './link-rules.ts'
export { isLogged } from './logged-actions.ts'
export { isSafeHtml } from './mail-html.ts'
export type { Member, MemberRole } from './members.ts'
export { memberRole } from './members.ts'
export { messageDefaults } from './messages.ts'
export { formatAmount } from './money.ts'
export type { NotificationSettings } from './notifications.ts'
export type { OfflineActivation, OfflineActivationStatus } from './offline-activations.ts'
export type { OfflineRequest } from './offline-request.ts'
export { normalizeCrockford, readOfflineRequest, toCrockford } from './offline-request.ts'
export type { Order, Payment, PaymentStatus } from './payments.ts'
export type { AnyOf, Needed, Permission, Requirement, Role } from './permissions.ts'
export {
  apiKeyPermissions,
  customPermissions,
  isGranted,
  permissions,
  permissionsNamed,
  rolePermissions,
} from './permissions.ts'
export { isPlaceholderId, placeholderIds } from './placeholder-ids.ts'
export type { PlanInfo, Pricing } from './plans.ts'
export type { PortalLicense, PortalLicenseType, PortalReseller, PortalStats, PortalVendor } from './portal.ts'
export type { Profile } from './profiles.ts'
export { logoBytes } from './profiles.ts'
export type { Artifact, Release, SecurityFix } from './releases.ts'
export { acceptsIdempotencyKey } from './repeats.ts'
export type { Reseller, ResellerSession } from './resellers.ts'
export type { SaleFigures, SaleKind, Sales } from './sales.ts'
export type {
  FactorMethod,
  NewPasskey,
  Passkey,
  PasskeyAnswer,
  SecondFactorStep,
} from './second-factor.ts'
export { factorProof, orSecondFactor } from './second-factor.ts'
export type { Bans, PlanDuration, Price, SearchMatch } from './shared.ts'
export { banReason, email, instant, password, personName, searchesText, username, version } from './shared.ts'
export type {
  OrderChoice,
  OrderMailState,
  OrderMailWait,
  OrderReasonCode,
  Shop,
  ShopKind,
  ShopOrder,
  ShopOrderState,
  ShopProduct,
} from './shops.ts'
export { customShopEvents, newShop } from './shops.ts'
export type { SigningKey } from './signing-keys.ts'
export type { Duration, LicenseTerm } from './terms.ts'
export { duration, durationUnits, licenseTerm } from './terms.ts'
export { toToldText } from './told-values.ts'
export type { UndoRow } from './undo.ts'
export type { AppVariable, ClientVariable } from './variables.ts'
export { appVariable, clientVariable, clientVariables } from './variables.ts'
export type { Vendor } from './vendors.ts'
export type { Applies, ProgramCall, Reason, Subject } from './verdicts.ts'
export { checksOf, reasonsOf, verdictOrder } from './verdicts.ts'
export type { PauseReason } from './webhook-pauses.ts'
export type { Delivery, DeliveryState, Webhook, WebhookFormat } from './webhooks.ts'
