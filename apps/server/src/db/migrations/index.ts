import type { Migration } from '../migrate.ts'
import { foundation } from './0001-foundation.ts'
import { countBlocks } from './0002-count-blocks.ts'
import { payments } from './0003-payments.ts'
import { planReminders } from './0004-plan-reminders.ts'
import { searchMerges } from './0005-search-merges.ts'
import { emptyCounts } from './0006-empty-counts.ts'
import { resellerCounts } from './0007-reseller-counts.ts'
import { knownAddresses } from './0008-known-addresses.ts'
import { limits } from './0009-limits.ts'
import { passwordResets } from './0010-password-resets.ts'
import { auditActors } from './0011-audit-actors.ts'
import { listPlaces } from './0012-list-places.ts'
import { licenseTerms } from './0013-license-terms.ts'
import { devices } from './0015-devices.ts'
import { seatsAndTrials } from './0016-seats-and-trials.ts'
import { addedTime } from './0017-added-time.ts'
import { variablesAndReleases } from './0018-variables-and-releases.ts'
import { refusals } from './0019-refusals.ts'
import { activity } from './0020-activity.ts'
import { messageLocales } from './0021-message-locales.ts'
import { signingKeys } from './0022-signing-keys.ts'
import { leases } from './0023-leases.ts'
import { deviceTokens } from './0024-device-tokens.ts'
import { offlineActivations } from './0025-offline-activations.ts'
import { noteWords } from './0026-note-words.ts'
import { imports } from './0027-imports.ts'
import { idempotencyKeys } from './0028-idempotency-keys.ts'
import { answerBytes } from './0029-answer-bytes.ts'
import { importAnswers } from './0031-import-answers.ts'
import { activityShares } from './0032-activity-shares.ts'
import { trialMarks } from './0033-trial-marks.ts'
import { activityFilters } from './0034-activity-filters.ts'
import { leasedPlaces } from './0035-leased-places.ts'
import { addedRights } from './0036-added-rights.ts'
import { offlineLimits } from './0037-offline-limits.ts'
import { blockedParts } from './0038-blocked-parts.ts'
import { coveredReleases } from './0039-covered-releases.ts'
import { accounts } from './0040-accounts.ts'
import { apiKeys } from './0041-api-keys.ts'
import { auditApps } from './0042-audit-apps.ts'
import { interruptedRequests } from './0043-interrupted-requests.ts'
import { knownDevices } from './0044-known-devices.ts'
import { secondFactors } from './0045-second-factors.ts'
import { mails } from './0046-mails.ts'
import { webhooks } from './0047-webhooks.ts'
import { auditLists } from './0048-audit-lists.ts'
import { notifications } from './0049-notifications.ts'
import { knownNames } from './0050-known-names.ts'
import { listOrders } from './0051-list-orders.ts'
import { boundedNames } from './0052-bounded-names.ts'
import { activitySearch } from './0053-activity-search.ts'
import { auditObjects } from './0054-audit-objects.ts'
import { customers } from './0056-customers.ts'
import { shops } from './0057-shops.ts'
import { appMails } from './0058-app-mails.ts'
import { webhookPauses } from './0062-webhook-pauses.ts'
import { buyerMails } from './0063-buyer-mails.ts'
import { customerPage } from './0064-customer-page.ts'
import { compatibility } from './0068-compatibility.ts'
import { dataImports } from './0070-imports.ts'
import { importedEmails } from './0071-imported-emails.ts'
import { erasures } from './0073-erasures.ts'
import { lazyMoves } from './0074-lazy-moves.ts'
import { vendorStates } from './0075-vendor-states.ts'
import { online } from './0085-online.ts'
import { orderChoices } from './0087-order-choices.ts'
import { emailDomains } from './0088-email-domains.ts'
import { compatibilityNames } from './0089-compatibility-names.ts'
import { mailTerms } from './0090-mail-terms.ts'
import { webhookKeepers } from './0092-webhook-keepers.ts'
import { customerFaces } from './0093-customer-faces.ts'
import { testLicenses } from './0094-test-licenses.ts'
import { grants } from './0095-grants.ts'
import { bansInLists } from './0096-bans-in-lists.ts'
import { calledImports } from './0098-called-imports.ts'
import { namesAlike } from './0099-names-alike.ts'
import { placesOfLists } from './0101-places-of-lists.ts'
import { newLicensesInSearch } from './0102-new-licenses-in-search.ts'
import { ownersOfCounts } from './0103-owners-of-counts.ts'
import { buyLinks } from './0104-buy-links.ts'
import { renewals } from './0105-renewals.ts'
import { customerMails } from './0106-customer-mails.ts'
import { releaseRecords } from './0107-releases.ts'
import { updates } from './0108-updates.ts'
import { versionsInUse } from './0109-versions-in-use.ts'
import { sales } from './0110-sales.ts'
import { profiles } from './0111-profiles.ts'
import { customRoles } from './0112-custom-roles.ts'
import { fallback } from './0113-fallback.ts'
import { fewerIndexEntries } from './0116-fewer-index-entries.ts'
import { saleLists } from './0117-sale-lists.ts'
import { resellerNotes } from './0118-reseller-notes.ts'

/** In execution order; never change a released migration. */
export const migrations: readonly Migration[] = [
  foundation,
  countBlocks,
  payments,
  planReminders,
  searchMerges,
  emptyCounts,
  resellerCounts,
  knownAddresses,
  limits,
  passwordResets,
  auditActors,
  listPlaces,
  licenseTerms,
  devices,
  seatsAndTrials,
  addedTime,
  variablesAndReleases,
  refusals,
  activity,
  messageLocales,
  signingKeys,
  leases,
  deviceTokens,
  offlineActivations,
  noteWords,
  imports,
  idempotencyKeys,
  answerBytes,
  importAnswers,
  activityShares,
  trialMarks,
  activityFilters,
  leasedPlaces,
  addedRights,
  offlineLimits,
  blockedParts,
  coveredReleases,
  accounts,
  apiKeys,
  auditApps,
  interruptedRequests,
  knownDevices,
  secondFactors,
  mails,
  webhooks,
  auditLists,
  notifications,
  knownNames,
  listOrders,
  boundedNames,
  activitySearch,
  auditObjects,
  customers,
  shops,
  appMails,
  webhookPauses,
  buyerMails,
  customerPage,
  compatibility,
  dataImports,
  importedEmails,
  erasures,
  lazyMoves,
  vendorStates,
  online,
  orderChoices,
  emailDomains,
  compatibilityNames,
  mailTerms,
  webhookKeepers,
  customerFaces,
  testLicenses,
  grants,
  bansInLists,
  calledImports,
  namesAlike,
  placesOfLists,
  newLicensesInSearch,
  ownersOfCounts,
  buyLinks,
  renewals,
  customerMails,
  releaseRecords,
  updates,
  versionsInUse,
  sales,
  profiles,
  customRoles,
  fallback,
  fewerIndexEntries,
  saleLists,
  resellerNotes,
]
