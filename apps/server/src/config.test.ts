import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Config, ConfigError, readConfig, variableNames } from './config.ts'

const mistakes = (environment: Record<string, string>): string[] => {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
}

const secretKey = 'a secret key with more than 32 characters'
const postgres = { DATABASE_URL: 'postgres://u@db/keyward', SECRET_KEY: secretKey }
const keys = { RAZORPAY_KEY_ID: 'rzp_1', RAZORPAY_KEY_SECRET: 'very secret' }

test('an empty environment is a development instance on loopback only', () => {
  expect(readConfig({})).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    databaseUrl: undefined,
    trustProxy: false,
    registration: 'open',
    passwordPolicy: 'basic',
    defaultPlan: 'free',
    rateLimits: 'on',
    payments: { mode: 'mock' },
    prices: { monthly: 69_900, yearly: 119_900, currency: 'INR' },
    development: true,
  })
})

test.each([
  ['PORT', 'http'],
  ['PORT', '70000'],
  ['PORT', '-1'],
  ['PORT', '80.5'],
  ['PORT', '0x1f'],
  ['PORT', '1e3'],
  ['PORT', ' 80'],
  ['LOG_LEVEL', 'loud'],
  ['DATABASE_URL', 'mysql://db'],
  ['DATABASE_URL', 'keyward'],
  ['DATABASE_URL', 'postgres://user:pass#word@db/keyward'],
  ['RAZORPAY_API_URL', 'http://api.razorpay.example'],
  ['PUBLIC_URL', 'keyward.example.com'],
  ['PUBLIC_URL', 'ftp://keyward.example.com'],
  ['PUBLIC_URL', 'https://keyward.example.com/?a=1'],
  ['PUBLIC_URL', 'https://keyward.example.com/?'],
  ['PUBLIC_URL', 'https://keyward.example.com/#top'],
  ['PUBLIC_URL', 'https://user@keyward.example.com'],
  ['PUBLIC_URL', 'https://keyward.example.com/a%2fb'],
  ['PUBLIC_URL', 'https://keyward.example.com//a'],
  ['PUBLIC_URL', 'https://keyward.example.com/licenses'],
  ['PUBLIC_URL', 'https://keyward.example.com/api/keyward'],
  ['TRUST_PROXY', 'yes'],
  ['HSTS_SUBDOMAINS', 'yes'],
  ['TRUST_PROXY', '10.0.0.0/33'],
  ['TRUST_PROXY', '10.0.0.1,'],
  ['TRUST_PROXY', '::1/129'],
  ['SHUTDOWN_DELAY', '61'],
  ['SHUTDOWN_DELAY', '-1'],
  ['SLOW_QUERY_MS', '1s'],
  ['BACKUP_EVERY', 'daily'],
  ['BACKUP_EVERY', '0.5'],
  ['BACKUP_EVERY', '8761'],
  ['BACKUP_KEEP', '0'],
  ['BACKUP_KEEP', '1001'],
  ['BACKUP_MAIL', 'operator'],
  ['AUDIT_DAYS', '29'],
  ['AUDIT_DAYS', 'a year'],
  ['SHOP_URL_STRIPE', 'stripe'],
  ['SHOP_URL_PADDLE', 'ftp://127.0.0.1'],
  ['WEBHOOK_NETWORKS', 'internal.example.com'],
  ['WEBHOOK_NETWORKS', '10.0.0.0/8,'],
  ['WEBHOOK_NETWORKS', '10.0.0.0/8;10.1.0.0/33'],
  ['REGISTRATION', 'maybe'],
  ['PASSWORD_POLICY', 'none'],
  ['RATE_LIMITS', 'false'],
  ['DEFAULT_PLAN', 'gold'],
  ['PAYMENTS', 'cash'],
  ['PAYMENTS', 'razorpay'],
  ['RAZORPAY_KEY_ID', 'rzp_1'],
  ['SMTP_URL', 'https://mail'],
  ['SMTP_URL', 'smtp://'],
  ['SMTP_URL', 'smtp://user:pass#word@mail'],
  ['MAIL_FROM', 'Keyward'],
  ['MAIL_FROM', 'Keyward <a@example.com>\r\nBcc: b@example.com'],
  ['SECRET_KEY', 'short'],
  ['PRICE_MONTHLY', 'free'],
  ['PRICE_YEARLY', '0'],
  ['PRICE_MONTHLY', '699.999'],
  ['PRICE_MONTHLY', '6e2'],
  ['PRICE_MONTHLY', '-5'],
  ['PRICE_MONTHLY', '10000001'],
  ['METRICS_TOKEN', 'short'],
  ['CURRENCY', 'rupees'],
  ['CURRENCY', 'JPY'],
  ['CURRENCY', 'ZZZ'],
  ['CURRENCY', 'XXX'],
  ['CURRENCY', 'XAU'],
  ['CURRENCY', 'inr'],
  ['LINK_REFUND', 'javascript:alert(1)'],
])('reports %s=%s in one line that starts with its name', (name, value) => {
  const found = mistakes({ [name]: value })
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(new RegExp(`^${name}: \\S.{5,}$`))
  expect(found[0]).not.toContain('\n')
  expect(found[0]).not.toMatch(/invalid input|expected/i)
})

test.each([
  [undefined, undefined, ''],
  ['https://Example.com', 'https://example.com', ''],
  ['https://example.com/', 'https://example.com', ''],
  ['https://example.com/keyward/', 'https://example.com/keyward', '/keyward'],
  ['https://example.com:8443/tools/keyward', 'https://example.com:8443/tools/keyward', '/tools/keyward'],
])('normalizes PUBLIC_URL=%s to %s with the base path "%s"', (url, publicUrl, basePath) => {
  expect(readConfig(url === undefined ? {} : { PUBLIC_URL: url })).toMatchObject({ publicUrl, basePath })
})

test.each([
  ['mock', undefined, 'free'],
  ['razorpay', undefined, 'free'],
  ['off', undefined, 'premium'],
  ['off', '', 'premium'],
  ['off', 'free', 'free'],
  ['mock', 'premium', 'premium'],
  ['razorpay', 'premium', 'premium'],
])('with payments %s and DEFAULT_PLAN=%s the default plan is %s', (mode, setting, plan) => {
  const environment = { ...(mode === 'razorpay' ? keys : {}), PAYMENTS: mode, DEFAULT_PLAN: setting }
  expect(readConfig(environment).defaultPlan).toBe(plan)
})

test('a reachable server without a payment provider gives premium by default', () => {
  expect(readConfig({ PUBLIC_URL: 'https://keys.example.com' }).defaultPlan).toBe('premium')
})

test('prices are amounts with at most two decimals', () => {
  expect(readConfig({ PRICE_MONTHLY: '699.5', PRICE_YEARLY: '1199', CURRENCY: 'XCD' }).prices).toEqual({
    monthly: 69_950,
    yearly: 119_900,
    currency: 'XCD',
  })
})

const read: Record<string, [value: string, (config: Config) => unknown, expected?: unknown]> = {
  PORT: ['8080', ({ port }) => port, 8080],
  HOST: ['::1', ({ host }) => host],
  DATA_DIR: ['/var/lib/keyward', ({ dataDir }) => dataDir],
  DATABASE_URL: [postgres.DATABASE_URL, ({ databaseUrl }) => databaseUrl],
  PUBLIC_URL: ['https://keys.example.com', ({ publicUrl }) => publicUrl],
  TRUST_PROXY: ['2', ({ trustProxy }) => trustProxy, 2],
  HSTS_SUBDOMAINS: ['on', ({ hstsSubdomains }) => hstsSubdomains, true],
  REGISTRATION: ['closed', ({ registration }) => registration],
  PASSWORD_POLICY: ['strict', ({ passwordPolicy }) => passwordPolicy],
  SHUTDOWN_DELAY: ['15', ({ shutdownDelayMs }) => shutdownDelayMs, 15_000],
  SLOW_QUERY_MS: ['250', ({ slowQueryMs }) => slowQueryMs, 250],
  BACKUP_EVERY: ['24', ({ backups }) => backups.everyMs, 86_400_000],
  BACKUP_KEEP: ['3', ({ backups }) => backups.keep, 3],
  BACKUP_DIR: ['/srv/backups', ({ backups }) => backups.directory],
  BACKUP_MAIL: ['operator@example.com', ({ backups }) => backups.mailTo],
  AUDIT_DAYS: ['400', ({ auditDays }) => auditDays, 400],
  VPN_RANGES_FILE: ['/etc/keyward/vpn.txt', ({ vpnRangesFile }) => vpnRangesFile],
  LEAKED_PASSWORDS_URL: ['https://leaks.example.com/range', ({ leakedPasswordsUrl }) => leakedPasswordsUrl],
  WEBHOOK_NETWORKS: [
    '10.1.0.0/16, 192.168.1.7,fd12::/48',
    ({ webhookNetworks }) => webhookNetworks,
    ['10.1.0.0/16', '192.168.1.7', 'fd12::/48'],
  ],
  SHOP_URL_STRIPE: ['http://127.0.0.1:4010', ({ shopUrls }) => shopUrls.stripe],
  SHOP_URL_PADDLE: ['http://127.0.0.1:4011', ({ shopUrls }) => shopUrls.paddle],
  SHOP_URL_LEMONSQUEEZY: ['http://127.0.0.1:4012', ({ shopUrls }) => shopUrls.lemonsqueezy],
  SHOP_URL_GUMROAD: ['http://127.0.0.1:4013', ({ shopUrls }) => shopUrls.gumroad],
  RATE_LIMITS: ['off', ({ rateLimits }) => rateLimits],
  LOG_LEVEL: ['warn', ({ logLevel }) => logLevel],
  METRICS_TOKEN: ['a token of the metrics', ({ metricsToken }) => metricsToken],
  DEFAULT_PLAN: ['premium', ({ defaultPlan }) => defaultPlan],
  PAYMENTS: ['off', ({ payments }) => payments.mode],
  RAZORPAY_KEY_ID: ['rzp_2', ({ payments }) => payments.keyId],
  RAZORPAY_KEY_SECRET: ['another secret', ({ payments }) => payments.keySecret],
  RAZORPAY_WEBHOOK_SECRET: ['hook secret', ({ payments }) => payments.webhookSecret],
  RAZORPAY_API_URL: ['https://provider.example.com', ({ payments }) => payments.apiUrl],
  PRICE_MONTHLY: ['10', ({ prices }) => prices.monthly, 1000],
  PRICE_YEARLY: ['100.50', ({ prices }) => prices.yearly, 10_050],
  CURRENCY: ['EUR', ({ prices }) => prices.currency],
  SMTP_URL: ['smtps://mail.example.com', ({ smtpUrl }) => smtpUrl],
  MAIL_FROM: ['keys@example.com', ({ mailFrom }) => mailFrom],
  SECRET_KEY: ['k'.repeat(32), ({ secretKey: key }) => key],
  SECRET_KEY_PREVIOUS: ['the key before', ({ secretKeyPrevious }) => secretKeyPrevious],
  LINK_SHIPPING: ['https://example.com/1', ({ links }) => links.shipping],
  LINK_REFUND: ['https://example.com/2', ({ links }) => links.refund],
  LINK_PAYMENT_TERMS: ['https://example.com/3', ({ links }) => links.paymentTerms],
  LINK_COMMUNITY: ['https://example.com/4', ({ links }) => links.community],
  LINK_VIDEOS: ['https://example.com/5', ({ links }) => links.videos],
}
const ofFiles = variableNames.filter((name) => name.endsWith('_FILE') && name !== 'VPN_RANGES_FILE')

test('every variable is read', () => {
  for (const [name, [value, of, expected]] of Object.entries(read)) {
    const before = of(readConfig({ ...keys, SECRET_KEY: secretKey }))
    const after = of(readConfig({ ...keys, SECRET_KEY: secretKey, [name]: value }))
    expect(after, name).toEqual(expected ?? value)
    expect(after, name).not.toEqual(before)
  }
  expect([...Object.keys(read), ...ofFiles].sort()).toEqual([...variableNames].sort())
})

test('failed backups are mailed to MAIL_FROM by default, and PostgreSQL refuses scheduled ones', () => {
  const { mailTo, directory } = readConfig({ MAIL_FROM: 'Keyward <k@example.com>', DATA_DIR: '/srv' }).backups
  expect([mailTo, directory]).toEqual(['k@example.com', '/srv/backups'])
  expect(mistakes({ ...postgres, BACKUP_EVERY: '0' })).toEqual([])
  expect(mistakes({ ...postgres, BACKUP_EVERY: '24' })).toEqual([
    expect.stringContaining('docs/operations.md shows base backups of a database server'),
  ])
})

test('reports all mistakes at once', () => {
  const found = mistakes({ PORT: 'x', TRUST_PROXY: 'x', REGISTRATION: 'x', SECRET_KEY: 'x' })
  expect(found.map((line) => line.split(':')[0])).toEqual([
    'PORT',
    'TRUST_PROXY',
    'REGISTRATION',
    'SECRET_KEY',
  ])
})

test.each([
  ['DATABASE_URL', 'postgres://user:pass#word@db/keyward'],
  ['SMTP_URL', 'smtps://user:pass/word@mail'],
])('names the encoding of the password for %s=%s', (name, value) => {
  expect(mistakes({ [name]: value, SECRET_KEY: secretKey })).toEqual([
    expect.stringContaining('percent-encoded password'),
  ])
})

test('reports no value of a secret', () => {
  const found = mistakes({
    SECRET_KEY: 'hush',
    DATABASE_URL: 'mysql://u:hush@db',
    SMTP_URL: 'http://u:hush@mail',
  })
  expect(found).toHaveLength(3)
  expect(found.join()).not.toContain('hush')
})

describe('settings for development instances only', () => {
  const reachable: [string, Record<string, string>][] = [
    ['another host', { HOST: '0.0.0.0' }],
    ['all addresses of IPv6', { HOST: '::' }],
    ['a public address', { PUBLIC_URL: 'https://keyward.example.com' }],
    ['a name that starts with localhost', { PUBLIC_URL: 'http://localhost.example.com' }],
    ['a proxy', { TRUST_PROXY: '1' }],
    ['a network of proxies', { TRUST_PROXY: '10.0.0.0/8' }],
  ]
  test.each(reachable)('are rejected with %s', (_what, environment) => {
    expect(mistakes({ ...environment, PAYMENTS: 'mock' })).toHaveLength(1)
    expect(mistakes({ ...environment, RATE_LIMITS: 'off' })).toHaveLength(1)
    for (const kind of ['STRIPE', 'PADDLE', 'LEMONSQUEEZY', 'GUMROAD'])
      expect(mistakes({ ...environment, [`SHOP_URL_${kind}`]: 'http://127.0.0.1:4010' })).toHaveLength(1)
    expect(readConfig(environment)).toMatchObject({ development: false, payments: { mode: 'off' } })
  })

  test.each([
    { HOST: 'localhost' },
    { HOST: '::1' },
    { HOST: '127.0.0.2' },
    { PUBLIC_URL: 'http://[::1]:3000' },
  ])('are accepted with %j', (environment) => {
    expect(readConfig({ ...environment, PAYMENTS: 'mock', RATE_LIMITS: 'off' }).development).toBe(true)
  })
})

test.each([
  [{}, 'mock'],
  [keys, 'razorpay'],
  [{ HOST: '0.0.0.0' }, 'off'],
  [{ HOST: '0.0.0.0', ...keys }, 'razorpay'],
  [{ ...keys, PAYMENTS: 'off' }, 'off'],
  [{ ...keys, PAYMENTS: 'mock' }, 'mock'],
])('with %j payments are %s', (environment, mode) => {
  expect(readConfig(environment as Record<string, string>).payments.mode).toBe(mode)
})

test('PostgreSQL requires a secret key', () => {
  expect(mistakes({ DATABASE_URL: postgres.DATABASE_URL })).toEqual([expect.stringMatching(/^SECRET_KEY: /)])
  expect(readConfig(postgres).databaseUrl).toBe(postgres.DATABASE_URL)
})

test.each([
  ['off', false],
  ['0', false],
  ['2', 2],
  ['10.0.0.1', ['10.0.0.1']],
  ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
])('TRUST_PROXY=%s trusts %j', (value, expected) => {
  expect(readConfig({ TRUST_PROXY: value }).trustProxy).toEqual(expected)
})

test('treats an empty variable as unset', () => {
  expect(readConfig({ PORT: '', DATABASE_URL: '', PAYMENTS: '' })).toEqual(readConfig({}))
})

describe('a secret from a file', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'keyward-config-'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  test('is read without its trailing line break', () => {
    const path = join(directory, 'key')
    writeFileSync(path, `${secretKey}\n`)
    expect(readConfig({ SECRET_KEY_FILE: path }).secretKey).toBe(secretKey)
    expect(mistakes({ SECRET_KEY_FILE: path, SECRET_KEY: secretKey })).toHaveLength(1)
  })

  test('is read for every variable that has a file', () => {
    expect(ofFiles.length).toBeGreaterThan(3)
    for (const file of ofFiles) {
      const [value, of] = read[file.replace(/_FILE$/, '')]!
      const path = join(directory, file)
      writeFileSync(path, value)
      const base: Record<string, string> = { ...keys, SECRET_KEY: secretKey }
      delete base[file.replace(/_FILE$/, '')]
      expect(of(readConfig({ ...base, [file]: path })), file).toBe(value)
    }
  })

  test('that is missing or not a file is reported in one line', () => {
    expect(mistakes({ SECRET_KEY_FILE: join(directory, 'none') })).toEqual([
      expect.stringMatching(/^SECRET_KEY_FILE: /),
    ])
    mkdirSync(join(directory, 'folder'))
    expect(mistakes({ SECRET_KEY_FILE: join(directory, 'folder') })).toEqual([
      expect.stringMatching(/^SECRET_KEY_FILE: /),
    ])
  })
})
