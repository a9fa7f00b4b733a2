/** Limits that the server enforces and the console displays. */
export const limits = {
  appIdLength: 8,
  appSecretLength: 32,
  firstAppVersion: '1.0.0',
  versionMax: 32,
  /** -1 means unlimited. */
  free: { maxApps: 2, maxLicensesPerApp: 30, maxResellers: 0 },
  premium: { maxApps: -1, maxLicensesPerApp: -1, maxResellers: -1 },
  /** Maximum body in bytes, unless the endpoint declares another. */
  bodyBytesMax: 16_384,
  bodyValuesMax: 1000,
  passwordMin: 6,
  passwordMax: 200,
  /** How long the link in a password reset mail works. */
  resetLinkMinutes: 30,
  /** Members of a vendor, invited ones too. */
  membersMax: 100,
  /** Apps of a member who does not work on all. */
  memberAppsMax: 200,
  /** Vendor accounts that a person belongs to. */
  vendorsMax: 100,
  /** How long an invitation works. */
  invitationDays: 7,
  usernameMin: 3,
  usernameMax: 64,
  /** The highest minimum that an app can set for usernames. */
  usernameMinMax: 32,
  /** Blocked devices and addresses of one app. */
  blocklistMax: 10_000,
  /** API keys of a vendor that are not revoked. */
  apiKeysMax: 100,
  apiKeyNameMax: 64,
  apiKeyAppsMax: 200,
  apiKeyNetworksMax: 50,
  /** Calls of programs, and others without a session, of one address on each node; each 16 KiB of a body count. */
  strangerRequestsPerMinute: 6000,
  /** One API key, on each node. */
  apiKeyRequestsPerMinute: 600,
  /** Webhooks of a vendor, and how many apps one can name. */
  webhooksMax: 20,
  webhookAppsMax: 200,
  webhookUrlMax: 2000,
  /** How long a delivery is tried again, and how long a webhook may fail before it is paused. */
  webhookRetryDays: 3,
  /** A webhook for which more events wait is paused. */
  webhookWaitingMax: 50_000,
  /** How long the secret before a rotation signs, too. */
  webhookRotationHours: 24,
  /** How long the log of deliveries is kept, and how much of a request and of its response. */
  deliveryDays: 30,
  deliveryBytesMax: 2048,
  /** Shops of an app, and products of a shop. */
  shopsMax: 20,
  shopProductsMax: 200,
  shopSecretMax: 500,
  /** Names of products, numbers of orders, and names of buyers. */
  shopTextMax: 200,
  orderLinesMax: 100,
  /** Licenses of one order. */
  orderLicensesMax: 100,
  /** What a shop has told of one order; further events wait. */
  orderEventsMax: 1000,
  /** A shop counts its waiting events up to this number. */
  shopWaitingShown: 1000,
  /** Mails to buyers that a vendor's apps send a day, unless the operator sets another number; the rest is sent later. */
  buyerMailsPerDay: 500,
  /** The same on the free plan of a server where anyone can register. */
  freeBuyerMailsPerDay: 20,
  /** How many times before its end an app's customers are told of a license at most. */
  endsSoonDaysMax: 4,
  updatesEndSoonDays: 14,
  /** How long a mail to a customer is listed after it was sent or given up. */
  customerMailDays: 90,
  /** Mails of one shop in an hour for orders that cost nothing. */
  freeOrderMailsPerHour: 30,
  /** How often a vendor can mail the keys of one order again. */
  orderMailsPerDay: 5,
  /** Mails with new keys of one vendor to one customer. */
  newKeyMailsOfOnePerDay: 20,
  /** One hook, on each node. */
  hookEventsPerMinute: 600,
  /** How long the body of an event is kept after it was used. */
  shopEventDays: 30,
  vpnAllowedMax: 100,
  programHashesMax: 200,
  /** What an owner, and each reseller, may add to the audit log and to stored answers. */
  recordBytesPerHour: { free: 1_048_576, premium: 67_108_864 },
  /** What the audit log stores of a record's detail. */
  recordDetailBytes: 1024,
  /** After so many days, repeated changes of a day leave only the last one in the audit log. */
  recordThinDays: 30,
  /** The fewest days that an operator can keep records: stored answers and thinning refer to younger ones. */
  auditDaysMin: 30,
  /** Characters of the mail to an app's buyers. */
  appMailTextMax: 5000,
  appMailHtmlMax: 20_000,
  /** The logo of a vendor or an app. */
  logoBytesMax: 200_000,
  logoSideMax: 2000,
  /** Languages with texts, for one app. */
  messageLocalesMax: 30,
  /** Events of one app in the activity log, of each kind; older ones are deleted. */
  activityRows: { init: 200_000, refusals: 200_000, sign_ins: 400_000, logs: 100_000, other: 200_000 },
  activityDaysMin: 365,
  activityDaysMax: 730,
  hwidMax: 256,
  /** A license has at most so many devices; of an unlimited one, those seen last are stored. */
  devicesMax: 1000,
  /** Sessions of an end user; beyond, those unused for longest end. */
  sessionsPerEndUser: 10_000,
  /** New trials of an app in an hour, from all addresses. */
  trialsPerHour: 1000,
  /** What a trial remembers of its device. */
  trialMarksMax: 100,
  /** Sessions of an owner or a reseller; a sign-in ends the oldest one beyond. */
  accountSessionsMax: 100,
  /** Characters of a User-Agent that a session keeps. */
  agentMax: 300,
  /** How long a proof of identity counts; signing in is one. */
  identityMinutes: 10,
  /** How many devices a program gets. */
  deviceListMax: 200,
  /** Passkeys of a person. */
  passkeysMax: 20,
  /** How long a sign-in waits for its second factor. */
  challengeMinutes: 5,
  recoveryCodes: 10,
  deviceCooldownHoursMax: 8760,
  generateMax: 100,
  resellerLicensesMax: 10_000,
  resellerLicensesDefault: 10,
  extendDaysMax: 3650,
  graceDaysMax: 90,
  leaseHoursMax: 2160,
  rememberDaysMax: 365,
  /** The value that a new app has. */
  rememberDaysDefault: 30,
  /** How long an activation file of a machine that is never online can last, unless its end is that of the license. */
  activationFileDaysMax: 3650,
  seatsMax: 10_000,
  featuresMax: 64,
  /** An end user with several keys has at most so many features. */
  endUserFeaturesMax: 256,
  licenseTypesMax: 100,
  /** Other types that a license of a type can become by a payment. */
  typeUpgradesMax: 10,
  /** After how many paid months a license can stay for ever. */
  fallbackMonthsMax: 120,
  /** Variables of an app, and of an end user. */
  variablesMax: 200,
  /** Names and values of one list together, in UTF-8. */
  variablesBytesMax: 65_536,
  /** Names and values of all variables in a lease together, in UTF-8. */
  offlineVariablesBytesMax: 8192,
  releasesMax: 1000,
  releaseNotesMax: 20_000,
  artifactsMax: 40,
  /** Ranges of versions that one security fix names. */
  affectedRangesMax: 20,
  /** What notes, artifacts and security of all releases of an app take, as stored. */
  releasesBytesMax: 8_388_608,
  bulkMax: 200,
  /** Grants that one answer shows. */
  grantsMax: 200,
  idempotencyKeyMax: 255,
  /** Answers to requests with an Idempotency-Key that an account keeps, their stored bytes, and for how long. */
  idempotencyKeysMax: 10_000,
  idempotencyBytesMax: 67_108_864,
  idempotencyHours: 24,
  /** Characters of a search. */
  searchMax: 100,
  /** Licenses, end users, devices and mails that come with a customer, of each. */
  customerPartsMax: 100,
  /** How long a mail is listed after it was sent or failed. */
  mailDays: 7,
  /** How long a sign-in to the customer's page lasts. */
  customerSessionHours: 24,
  /** How long a mailed link to it works. */
  customerLinkMinutes: 15,
  /** Links to it that an app mails a day, and of these to one customer or end user. */
  customerLinksPerDay: 500,
  customerLinksOfOnePerDay: 20,
  /** The period in which a customer can free `customerDevices` devices of an end user. */
  customerDeviceDays: 30,
  customerDevicesMax: 100,
  customerDevicesDefault: 3,
  /** How long the page shows a refusal. */
  customerRefusalDays: 30,
  importRowsMax: 5000,
  /** Imports from other systems: of a vendor in `importReportDays`, files of one, bytes of a file, of files in a request, and of a vendor's. */
  importsMax: 20,
  importFilesMax: 10,
  importFileBytesMax: 67_108_864,
  importInlineBytesMax: 1_048_576,
  importBytesMax: { free: 16_777_216, premium: 134_217_728 },
  importedRowsMax: 200_000,
  /** Usernames and keys of other systems are kept as they are. */
  importedNameMax: 70,
  importedKeyMax: 100,
  /** What people paste as a key: it may be a sentence with a key in it. */
  pastedKeyMax: 400,
  /** When the files of an import that never ran are deleted, and when its report. */
  importFileHours: 24,
  importReportDays: 30,
  exportRowsMax: 1_000_000,
  pageSizeDefault: 50,
  pageSizeMax: 200,
  /** A search stops counting at this many results and sets `pagination.capped`. */
  searchCountMax: 10_000,
  /** Rows of a kind that need attention. */
  attentionMax: 20,
  /** Days of one call for sales, and groups of one list of it. */
  salesDaysMax: 732,
  saleGroupsMax: 1000,
  /** Cancelling refunds all payments within these days of the first one. */
  moneyBackDays: 7,
  activityDays: 30,
  expiringSoonDays: 7,
  /** An end user is online whose program called within so many hours; a use is noted once an hour. */
  onlineHours: 2,
  /** A device that was not seen for so long counts as unseen. */
  unseenDays: 30,
  /** The exposure of a fix is kept for each day until no device was exposed for so many days. */
  quietDays: 7,
  /** Days after its listing on which the exposure of a fix is kept at most: five years. */
  exposureDaysMax: 1830,
  /** Versions in use that are listed. */
  versionsMax: 500,
  /** Releases of a vendor that customers are mailed about within a week. */
  releaseNoticesPerWeek: 3,
  /** Devices, and customers, that the evidence of a release names. */
  evidenceRowsMax: 20_000,
  /** Who is online is counted over so many sessions, the last used ones. */
  onlineMax: 100_000,
} as const

export const unlimited = -1

/** The longest extension in each unit. */
export const longestExtension = {
  hours: 87_600,
  days: limits.extendDaysMax,
  months: 120,
  years: 10,
} as const

/** Where orders come from. */
export const shopKinds = ['custom', 'stripe', 'paddle', 'lemonsqueezy', 'gumroad'] as const

/** What an order is counted as, and by what a list of orders finds it. */
export const saleKinds = ['new', 'renewed', 'refunded', 'disputed', 'dispute_won', 'trial', 'due'] as const

/** States of a mail to a customer. */
export const customerMailStates = ['waiting', 'queued', 'sent', 'failed', 'missed', 'dropped'] as const

/** A version of a vendor's program, of at most `limits.versionMax` characters. */
export const versionPattern = /^\d+\.\d+\.\d+$/

/** `waiting` needs something first, see `reason`; the others say what the shop told last. */
export const orderStates = ['fulfilled', 'waiting', 'refunded', 'disputed'] as const

/** Why an order waits. */
export const orderReasonCodes = [
  'not_arrived',
  'unreadable',
  'event_failed',
  'too_many_events',
  'no_product',
  'type_missing',
  'type_deleted',
  'product_added',
  'product_unclear',
  'plan_full',
  'too_many_licenses',
  'hour_full',
  'partly_refunded',
  'payment_warning',
  'fewer_units',
  'no_address',
  'license_banned',
  'license_subscribed',
  'nothing_to_renew',
] as const

/** What a vendor can decide about an order that waits. */
export const orderChoices = ['keep', 'ban', 'replace', 'newLicense', 'end'] as const
