import { database } from '../db/owned-tables.ts'
import { service } from '../service/owned-tables.ts'
import { account } from './account/account.module.ts'
import { accountMails } from './account-mails/account-mails.module.ts'
import { accounts } from './accounts/accounts.module.ts'
import { activity } from './activity/activity.module.ts'
import { apiKeys } from './api-keys/api-keys.module.ts'
import { appMails } from './app-mails/app-mails.module.ts'
import { apps } from './apps/apps.module.ts'
import { audit } from './audit/audit.module.ts'
import { blocklist } from './blocklist/blocklist.module.ts'
import { bulk } from './bulk/bulk.module.ts'
import { compatibility } from './compatibility/compatibility.module.ts'
import { customerMails } from './customer-mails/customer-mails.module.ts'
import { customerPage } from './customer-page/customer-page.module.ts'
import { customerRecords } from './customer-records/customer-records.module.ts'
import { customerSessions } from './customer-sessions/customer-sessions.module.ts'
import { customers } from './customers/customers.module.ts'
import { dailyCounts } from './daily-counts/daily-counts.module.ts'
import { dashboard } from './dashboard/dashboard.module.ts'
import { devices } from './devices/devices.module.ts'
import { endUsers } from './end-users/end-users.module.ts'
import { entitlements } from './entitlements/entitlements.module.ts'
import { events } from './events/events.module.ts'
import { explanations } from './explanations/explanations.module.ts'
import { exposure } from './exposure/exposure.module.ts'
import { imports } from './imports/imports.module.ts'
import { lazyMove } from './lazy-move/lazy-move.module.ts'
import { licenseTypes } from './license-types/license-types.module.ts'
import { licenses } from './licenses/licenses.module.ts'
import { mail } from './mail/mail.module.ts'
import { members } from './members/members.module.ts'
import type { Module } from './module.ts'
import { notifications } from './notifications/notifications.module.ts'
import { offlineActivations } from './offline-activations/offline-activations.module.ts'
import { owners } from './owners/owners.module.ts'
import { passwordResets } from './password-resets/password-resets.module.ts'
import { payments } from './payments/payments.module.ts'
import { plans } from './plans/plans.module.ts'
import { platform } from './platform/platform.module.ts'
import { portal } from './portal/portal.module.ts'
import { profiles } from './profiles/profiles.module.ts'
import { program } from './program/program.module.ts'
import { releases } from './releases/releases.module.ts'
import { resellers } from './resellers/resellers.module.ts'
import { sales } from './sales/sales.module.ts'
import { secondFactors } from './second-factors/second-factors.module.ts'
import { sessions } from './sessions/sessions.module.ts'
import { shops } from './shops/shops.module.ts'
import { signingKeys } from './signing-keys/signing-keys.module.ts'
import { system } from './system/system.module.ts'
import { variables } from './variables/variables.module.ts'
import { webhooks } from './webhooks/webhooks.module.ts'

/** The server's modules from the lowest layer to the highest; a module imports its own layer and lower ones. */
const layers: readonly (readonly Module[])[] = [
  [accounts, owners, sessions, mail, dailyCounts, customers, customerSessions, entitlements, devices],
  [
    apps,
    appMails,
    profiles,
    lazyMove,
    apiKeys,
    passwordResets,
    secondFactors,
    accountMails,
    notifications,
    releases,
    blocklist,
    activity,
  ],
  [licenses, licenseTypes, resellers, signingKeys, sales],
  [members, endUsers, variables, payments, customerMails],
  [program, plans, account, bulk, imports, events, audit, shops],
  [
    dashboard,
    platform,
    system,
    explanations,
    offlineActivations,
    webhooks,
    customerRecords,
    customerPage,
    portal,
    compatibility,
    exposure,
  ],
]

/** Every module, lower layers first. Nothing below imports this list: what needs it is given it. */
export const modules: readonly Module[] = [database, service, ...layers.flat()]
