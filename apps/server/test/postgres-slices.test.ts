import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** A slice that sends statements of each module to PostgreSQL in `npm test`. */
const sliceOf: Record<string, string> = {
  'account-mails': 'vendors',
  accounts: 'vendors',
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
  'customer-sessions': 'customer-accounts',
  customers: 'customers',
  'daily-counts': 'seats',
  dashboard: 'attention',
  devices: 'leased-devices',
  'end-users': 'seats',
  entitlements: 'grants',
  exposure: 'exposure',
  imports: 'imports-attacks',
  'lazy-move': 'races',
  'license-types': 'buy-links',
  licenses: 'bulk-ends',
  mail: 'customer-notices',
  members: 'audit-about',
  notifications: 'notifications',
  'offline-activations': 'plan-limit',
  owners: 'vendors',
  'password-resets': 'customer-mails',
  payments: 'payments-hard',
  plans: 'notifications',
  portal: 'portal',
  profiles: 'edits',
  program: 'seats',
  releases: 'client-updates',
  resellers: 'resellers',
  sales: 'sales',
  'second-factors': 'accounts-migration',
  sessions: 'seats',
  shops: 'renewals',
  'signing-keys': 'leases',
  system: 'plan-limit',
  variables: 'edits',
  webhooks: 'attention',
}

const server = join(import.meta.dirname, '..')

const statement = /\.(selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql(<.*>)?`|\bprepared\b/

test('the slice named for each module with statements runs on PostgreSQL in `npm test`', () => {
  const modules = globSync('src/modules/*/**/*.ts', { cwd: server }).flatMap((file) =>
    !file.endsWith('.test.ts') && statement.test(readFileSync(join(server, file), 'utf8'))
      ? [file.split('/')[2]]
      : [],
  )
  expect(Object.keys(sliceOf)).toEqual([...new Set(modules)].sort())
  const moved = Object.values(sliceOf).filter((slice) =>
    /^\/\/ (On|In) /.test(readFileSync(join(server, 'test/slices', `${slice}.test.ts`), 'utf8')),
  )
  expect(moved).toEqual([])
})
