import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const modules = join(import.meta.dirname, '../src/modules')

/** Files whose queries concern no app, with the reason. */
const exceptions = [
  // The vendor account, its people, its plan and its payments.
  'account',
  'accounts',
  'api-keys',
  'members',
  'owners',
  'password-resets',
  'payments',
  'plans',
  'sessions',
  // Housekeeping, across all owners.
  'system',
]

test('only queries without an app name the owner of rows by hand, and not by their scope', () => {
  const files = globSync('**/*.ts', { cwd: modules }).filter(
    (file) => !file.endsWith('.test.ts') && !exceptions.some((name) => file.startsWith(`${name}/`)),
  )
  expect(files.length).toBeGreaterThan(100)
  const found = files.flatMap((file) => {
    const queries = readFileSync(join(modules, file), 'utf8').match(
      /owner_id'\)?, '=|ownerOf\(|owner_id = \$\{/g,
    )
    return queries ? [[file, queries.length]] : []
  })
  expect(Object.fromEntries(found)).toEqual({
    // Erases a person for callers with all apps.
    'activity/activity.erasure.ts': 2,
    // A condition on the apps follows.
    'activity/activity.repo.ts': 1,
    // Narrowed by `mine`, the condition of the search.
    'activity/activity.search.ts': 2,
    // A prepared query: `sees` checks the app that it returns.
    'apps/apps.access.ts': 1,
    // Names of people and API keys, which have no app; the ids come from records that the reader may see.
    'audit/audit.names.ts': 4,
    // A link's app comes with the session or the stored request, and its condition follows.
    'customer-page/customer-page.repo.ts': 1,
    // A customer has no app: `customerInScope` finds those with something in the scope.
    'customer-records/customer-records.repo.ts': 2,
    'customers/customers.access.ts': 3,
    'customers/faces.access.ts': 4,
    // An erasure is of callers with all apps, and concerns all shops of the vendor.
    'customers/erasures.access.ts': 2,
    // Another one, and a query for programs, whose session names the app.
    'end-users/end-users.access.ts': 2,
    // Erases a person for callers with all apps.
    'end-users/end-users.erasure.ts': 1,
    // The app of an end user that was found in the scope.
    'end-users/end-users.repo.ts': 1,
    // What a vendor may store, of all its apps.
    'imports/imports.access.ts': 1,
    'imports/imports.repo.ts': 2,
    // Narrowed by `mine`, the condition of the search.
    'end-users/end-users.list.ts': 1,
    'licenses/licenses.list.ts': 2,
    // What a job finds out about a vendor, narrowed to the apps of each person that it tells; settings have no app.
    'notifications/notifications.access.ts': 2,
    'notifications/notifications.facts.ts': 10,
    'notifications/notifications.repo.ts': 8,
    // Workers release the mails of a vendor that wait, of all its apps.
    'customer-mails/customer-mails.repo.ts': 2,
    'licenses/licenses.mail.ts': 1,
    // A waiting mail names its vendor and the digest of the logo.
    'mail/mail.face.ts': 1,
    // A vendor has so many notices a week, for all its apps.
    'releases/told.access.ts': 1,
    // Webhooks, for callers with all apps, and API keys, for those who may list them.
    'dashboard/attention.repo.ts': 2,
    // The plan's limit counts the resellers of all apps.
    'resellers/resellers.repo.ts': 1,
    // What waits for the vendor itself, in all its apps.
    'shops/orders.repo.ts': 1,
    // Erases a person for callers with all apps.
    'shops/shops.erasure.ts': 1,
    // The operator disables a vendor account, with all its webhooks.
    'webhooks/webhooks.access.ts': 1,
    // Who the maker of a webhook is.
    'webhooks/webhooks.makers.ts': 2,
    // A webhook names several apps: `isVisible` checks them.
    'webhooks/webhooks.repo.ts': 4,
  })
})
