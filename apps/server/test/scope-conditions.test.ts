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
    // A condition on the apps follows.
    'activity/activity.repo.ts': 1,
    // A prepared query: `sees` checks the app that it returns.
    'apps/apps.access.ts': 1,
    // Names of people and API keys, which have no app; the ids come from records that the reader may see.
    'audit/audit.names.ts': 4,
    // Another one, and a query for programs, whose session names the app.
    'end-users/end-users.access.ts': 2,
    // Narrowed by `mine`, the condition of the search.
    'end-users/end-users.list.ts': 1,
    'licenses/licenses.list.ts': 2,
    // What a job finds out about a vendor, narrowed to the apps of each person that it tells; settings have no app.
    'notifications/notifications.access.ts': 2,
    'notifications/notifications.facts.ts': 7,
    'notifications/notifications.repo.ts': 8,
    // The plan's limit counts the resellers of all apps.
    'resellers/resellers.repo.ts': 1,
    // Who the maker of a webhook is.
    'webhooks/webhooks.makers.ts': 2,
    // A webhook names several apps: `isVisible` checks them.
    'webhooks/webhooks.repo.ts': 4,
  })
})
