import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** A slice that sends statements of each module to PostgreSQL in `npm test`. */
const sliceOf: Record<string, string> = {
  'account-mails': 'vendors',
  activity: 'customer-mails',
  'api-keys': 'api-keys',
  'app-mails': 'customer-notices',
  apps: 'edits',
  audit: 'audit-about',
  blocklist: 'edits',
  compatibility: 'compatibility-attacks',
  'customer-mails': 'customer-notices',
  'customer-page': 'customer-mails',
  'customer-records': 'customers',
  dashboard: 'attention',
  'end-users': 'seats',
  exposure: 'exposure',
  imports: 'imports-attacks',
  'lazy-move': 'races',
  'license-types': 'buy-links',
  licenses: 'bulk-ends',
  mail: 'customer-notices',
  members: 'audit-about',
  notifications: 'notifications',
  'offline-activations': 'plan-limit',
  'password-resets': 'customer-mails',
  payments: 'payments-hard',
  plans: 'notifications',
  portal: 'portal',
  releases: 'client-updates',
  resellers: 'resellers',
  sales: 'sales',
  'second-factors': 'accounts-migration',
  shops: 'renewals',
  'signing-keys': 'leases',
  system: 'plan-limit',
  variables: 'edits',
  webhooks: 'attention',
}

const server = join(import.meta.dirname, '..')

test('the slice named for each module with a repo runs on PostgreSQL in `npm test`', () => {
  const repos = globSync('modules/**/*.repo.ts', { cwd: join(server, 'src') })
  const modules = new Set(repos.map((repo) => repo.split('/')[1] ?? ''))
  expect(Object.keys(sliceOf)).toEqual([...modules].sort())
  const moved = Object.values(sliceOf).filter((slice) =>
    /^\/\/ (On|In) /.test(readFileSync(join(server, 'test/slices', `${slice}.test.ts`), 'utf8')),
  )
  expect(moved).toEqual([])
})
