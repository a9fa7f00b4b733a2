import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Each table has one owner, a module or a folder of the server: it alone inserts, updates and deletes the table's rows. */
const tablesOf = {
  db: [
    ...[
      'meta',
      'audit',
      'audit_objects',
      'audit_lists',
      'license_counts',
      'license_blocks',
      'license_places',
    ],
    ...['client_counts', 'client_blocks', 'client_places'],
  ],
  service: ['attempts', 'known_addresses', 'idempotency_keys'],
  accounts: ['accounts'],
  owners: ['owners'],
  members: ['members'],
  sessions: ['owner_sessions', 'reseller_sessions', 'client_sessions'],
  'account-mails': ['known_devices'],
  notifications: ['notification_settings', 'notification_scans', 'notification_marks'],
  customers: ['customers', 'customer_faces', 'erasures'],
  'customer-sessions': ['customer_sessions', 'customer_links'],
  'daily-counts': ['daily_counts'],
  entitlements: ['licenses', 'grants', 'clients', 'former_names'],
  'lazy-move': ['lazy_moves'],
  devices: ['devices', 'device_tokens', 'leased_seats'],
  apps: ['apps', 'app_messages', 'app_sdks'],
  'app-mails': ['app_mails', 'buyer_mails'],
  'password-resets': ['password_resets', 'reset_requests'],
  mail: ['mails'],
  'api-keys': ['api_keys'],
  shops: ['shops', 'shop_events', 'shop_orders', 'shop_order_units'],
  webhooks: ['webhooks', 'webhook_deliveries'],
  'second-factors': ['second_factors', 'passkeys', 'recovery_codes', 'factor_challenges'],
  releases: ['releases'],
  blocklist: ['blocklist', 'program_hashes'],
  activity: ['activity', 'activity_shares'],
  'license-types': ['license_types'],
  resellers: ['resellers'],
  'signing-keys': ['signing_keys'],
  'end-users': ['deleted_files'],
  variables: ['app_variables', 'client_variables'],
  payments: ['coupons', 'payment_orders', 'payments'],
  program: ['seats', 'trial_marks'],
  plans: ['plan_reminders'],
  imports: [
    ...['data_imports', 'data_import_files', 'data_import_parts', 'data_import_rows'],
    'imported_users',
  ],
  'offline-activations': ['offline_activations'],
  compatibility: ['compatibility', 'compatibility_programs', 'compatibility_names'],
}
const owners = new Map(
  Object.entries(tablesOf).flatMap(([owner, tables]) => tables.map((table) => [table, owner])),
)

const server = 'apps/server/src/'

/** A record queues its events in its own transaction, logs go with their vendor, and a lost key concerns all tables with sealed values. */
const exceptions = {
  [`${server}db/queued-events.ts`]: ['webhook_deliveries'],
  [`${server}db/deletions.ts`]: ['webhook_deliveries'],
  [`${server}modules/system/lost-key.operator.ts`]: [
    ...[
      'apps',
      'signing_keys',
      'app_variables',
      'client_variables',
      'compatibility',
      'compatibility_programs',
    ],
    ...['second_factors', 'recovery_codes', 'webhooks', 'shops', 'shop_events', 'shop_orders', 'mails'],
    ...['reset_requests', 'data_imports', 'data_import_parts', 'data_import_files', 'lazy_moves', 'erasures'],
    ...['customer_sessions', 'customer_links', 'idempotency_keys'],
  ],
}

/** Calls such as `updateTable('x')` and `insert(tx, 'x')`, and statements in SQL; the last group is not a name. */
const writes = [
  /\b(?:insert|update|delete|replace|merge)\w*\(\s*(?:[\w.]+,\s*)?'(\w+)(?: as \w+)?'/gi,
  /(?:\b(?:insertInto|updateTable|deleteFrom|replaceInto|mergeInto|insertUnlessTaken)|(?<![.\w])(?:insert|update))(\()(?!\s*(?:[\w.]+,\s*)?')/g,
  /\b(?:insert|replace|merge)\s+into\s+"?(\w+|\$)/gi,
  /\bdelete\s+from\s+"?(\w+|\$)/gi,
  /\bupdate\s+"?(\w+|\$)[^\s"]*"?(?:\s+(?:as\s+)?\w+)?\s+set\b/gi,
]

/** Writes of tables by others than their owners, and tables without one. */
export function findForeignWrites(root, files) {
  const found = files
    .filter((file) => file.startsWith(server) && !file.startsWith(`${server}db/migrations/`))
    .flatMap((file) =>
      tablesWrittenBy(file, withoutComments(readFileSync(join(root, file), 'utf8')))
        .filter((table) => owners.get(table) !== partOf(file) && !exceptions[file]?.includes(table))
        .map((table) => `${file} writes ${table}\n    rule: a table is written by its owner alone`),
    )
  const unowned = declaredTables(root)
    .filter(({ table }) => !owners.has(table))
    .map(({ file, table }) => `${file} declares ${table}\n    rule: every table has an owner`)
  return [...found, ...unowned]
}

function tablesWrittenBy(file, text) {
  const names = writes.flatMap((write) => [...text.matchAll(write)].map((match) => match[1]))
  const written = names.filter((name) => owners.has(name))
  // Which table a variable names is unknown: it can be each one that the file names. Functions of `db` take the name.
  const isVariable = names.some((name) => !/^\w/.test(name)) && !file.startsWith(`${server}db/`)
  if (isVariable) {
    const words = [...text.matchAll(/'(\w+)'|^\s*(\w+):/gm)].map(([, quoted, key]) => quoted ?? key)
    const named = words.filter((word) => owners.has(word))
    written.push(...(named.length > 0 ? named : ['an unknown table']))
  }
  return [...new Set(written)]
}

const withoutComments = (text) => text.replace(/^\s*(?:\/\/.*|\/\*[\s\S]*?\*\/)/gm, '')

const partOf = (file) => /^(?:modules\/)?([^/]+)\//.exec(file.slice(server.length))?.[1]

function declaredTables(root) {
  const folder = `${server}db/tables`
  const names = existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : []
  const files = [`${server}db/tables.ts`, ...names.map((name) => `${folder}/${name}`)]
  return files
    .filter((file) => existsSync(join(root, file)))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const bodies = [...text.matchAll(/^export interface \w*Tables\b[^{]*\{([^}]*)\}/gm)]
      return bodies
        .flatMap(([, body]) => [...body.matchAll(/^ {2}(\w+):/gm)])
        .map(([, table]) => ({ file, table }))
    })
}
