import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { limits } from '@keyward/contract'
import { consolePaths, customerPagePath, itemPaths } from '@keyward/contract/console-paths'
import { z } from 'zod'
import { type BackupConfig, backupsOf, backupVariables } from './config-backups.ts'
import { readDatabaseAddress } from './config-database.ts'
import { fileVariables, withSecretFiles } from './config-files.ts'
import { findMisspelled } from './config-names.ts'
import { listSetShopUrls, type ShopUrls, shopUrlsOf, shopUrlVariables } from './config-shops.ts'

/** The validated configuration. */
export interface Config {
  port: number
  host: string
  dataDir: string
  databaseUrl: string | undefined
  /** Without a trailing slash. */
  publicUrl: string | undefined
  /** The path of `publicUrl`: empty, or segments that each start with a slash. */
  basePath: string
  /** Fastify's option: trust no proxy, a number of hops, or a list of networks. */
  trustProxy: false | number | string[]
  /** Whether browsers use https for the subdomains of `publicUrl` too. */
  hstsSubdomains: boolean
  registration: 'open' | 'closed'
  passwordPolicy: 'basic' | 'strict'
  /** A file with the addresses of VPN providers. */
  vpnRangesFile: string | undefined
  /** A range API of leaked passwords, without a trailing slash. */
  leakedPasswordsUrl: string | undefined
  /** Private addresses and networks that webhooks may reach. */
  webhookNetworks: readonly string[]
  /** Where orders are read back from, by the kind of shop. */
  shopUrls: ShopUrls
  /** The plan of owners without a paid or granted one. */
  defaultPlan: 'free' | 'premium'
  rateLimits: 'on' | 'off'
  logLevel: (typeof logLevels)[number]
  /** The bearer token that `/metrics` requires. */
  metricsToken: string | undefined
  payments: {
    mode: 'mock' | 'razorpay' | 'off'
    keyId?: string
    keySecret?: string
    webhookSecret?: string
    apiUrl: string
  }
  /** In the currency's smallest unit. */
  prices: { monthly: number; yearly: number; currency: string }
  /** After so many days the audit log deletes its records; undefined to keep them. */
  auditDays: number | undefined
  backups: BackupConfig
  /** How long `/api/ready` answers 503 before the listener closes. */
  shutdownDelayMs: number
  /** Statements of the database that take longer are logged; none if it is 0. */
  slowQueryMs: number
  smtpUrl: string | undefined
  mailFrom: string | undefined
  /** `mail` sends reset links; with `operator` only the command line can set a new password. */
  passwordReset: 'mail' | 'operator'
  /** Undefined on an embedded database that uses the key file in the data directory. */
  secretKey: string | undefined
  /** The key before `secretKey`, during a rotation and a while after it. */
  secretKeyPrevious: string | undefined
  links: Record<'shipping' | 'refund' | 'paymentTerms' | 'community' | 'videos', string | null>
  /** Only this machine can reach the server, so simulated payments are allowed. */
  development: boolean
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export class ConfigError extends Error {
  readonly mistakes: string[]

  constructor(mistakes: string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}

export const loopback = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address' })
const sender = /^(?:[^<>\r\n]*<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,]+@[^\s<>@,]+)$/
const smallestUnits = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,2})?$/, 'must be an amount such as 699 or 699.50')
  .transform((amount) => Math.round(Number(amount) * 100))
  .refine((amount) => amount >= 100, 'must be at least 1')
  .refine((amount) => amount <= 1_000_000_000, 'is too large')

/** Currencies without two decimals; amounts here assume hundredths. */
const otherDecimals =
  /^(BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF|BHD|IQD|JOD|KWD|LYD|OMR|TND)$/

/** Codes that start with X are metals, funds and test codes, except currencies shared by several countries. */
const currencies = new Set(
  Intl.supportedValuesOf('currency').filter((code) => !/^X(?!AF|CD|CG|OF|PF)/.test(code)),
)

/** A proxy may keep or strip the base path, so it must not equal one of Keyward's own paths. */
const ownPaths = new Set<string | undefined>([
  'api',
  'assets',
  'docs',
  'sdk',
  ...[...Object.values(consolePaths), ...Object.values(itemPaths), customerPagePath].map(
    (path) => path.split('/')[1],
  ),
])
ownPaths.delete('')
const publicUrl = httpUrl
  .refine((value) => !/[?#@]/.test(value), 'must have no query, fragment or username')
  .refine(
    (value) => /^(\/[\w.~-]+)*\/?$/.test(pathOf(value)),
    'may have a path of letters, digits and . _ ~ - only',
  )
  .refine(
    (value) => pathOf(value) === '/' || !ownPaths.has(pathOf(value).split('/')[1]),
    "must not have a path that starts with one of Keyward's own",
  )
  .transform((value) => new URL(value).href.replace(/\/+$/, ''))

function pathOf(url: string): string {
  return URL.parse(url)?.pathname ?? '/'
}

/** Without encoding, characters such as # and / end the password. */
const withPassword = 'user:password@host, with a percent-encoded password'

const listOf = (text: string): string[] => text.split(',').map((part) => part.trim())

const variables = z.object({
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be a port number')
    .default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  DATA_DIR: z.string().min(1).default('./data'),
  DATABASE_URL: z
    .string()
    .superRefine((text, context) => {
      const address = readDatabaseAddress(text)
      if (typeof address === 'string') context.addIssue({ code: 'custom', message: address })
    })
    .optional(),
  PUBLIC_URL: publicUrl.optional(),
  TRUST_PROXY: z
    .string()
    .default('off')
    .transform((value, context) => {
      if (value === 'off') return false
      if (/^\d+$/.test(value)) return Number(value) || false
      const networks = listOf(value)
      if (networks.every(isNetwork)) return networks
      context.addIssue({
        code: 'custom',
        message: 'must be off, a number of hops, or a list of addresses and networks',
      })
      return z.NEVER
    }),
  HSTS_SUBDOMAINS: z.enum(['on', 'off'], 'must be on or off').default('off'),
  REGISTRATION: z.enum(['open', 'closed'], 'must be open or closed').default('open'),
  PASSWORD_POLICY: z.enum(['basic', 'strict'], 'must be basic or strict').default('basic'),
  VPN_RANGES_FILE: z.string().min(1).optional(),
  LEAKED_PASSWORDS_URL: httpUrl.transform((url) => url.replace(/\/+$/, '')).optional(),
  WEBHOOK_NETWORKS: z
    .string()
    .transform(listOf)
    .refine((networks) => networks.every(isNetwork), 'must be a list of addresses and networks')
    .default([]),
  ...shopUrlVariables,
  ...backupVariables,
  RATE_LIMITS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  LOG_LEVEL: z.enum(logLevels, `must be ${logLevels.join(', ')}`).default('info'),
  DEFAULT_PLAN: z.enum(['free', 'premium'], 'must be free or premium').optional(),
  PAYMENTS: z.enum(['mock', 'razorpay', 'off'], 'must be mock, razorpay or off').optional(),
  RAZORPAY_KEY_ID: z.string().min(1).optional(),
  RAZORPAY_KEY_SECRET: z.string().min(1).optional(),
  RAZORPAY_WEBHOOK_SECRET: z.string().min(1).optional(),
  RAZORPAY_API_URL: httpUrl.default('https://api.razorpay.com'),
  PRICE_MONTHLY: smallestUnits.default(69_900),
  PRICE_YEARLY: smallestUnits.default(119_900),
  CURRENCY: z
    .string()
    .refine((code) => currencies.has(code), 'must be an ISO 4217 code of a currency, such as INR or EUR')
    .refine((code) => !otherDecimals.test(code), 'must be a currency of two decimals')
    .default('INR'),
  AUDIT_DAYS: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a number of days')
    .transform(Number)
    .refine((days) => days >= limits.auditDaysMin, `must be at least ${limits.auditDaysMin}`)
    .optional(),
  SHUTDOWN_DELAY: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a number of seconds')
    .transform((seconds) => Number(seconds) * 1000)
    .refine((ms) => ms <= 60_000, 'must be at most 60')
    .default(0),
  SLOW_QUERY_MS: z
    .string()
    .regex(/^\d{1,6}$/, 'must be a number of milliseconds, or 0 for none')
    .transform(Number)
    .default(1000),
  SMTP_URL: z
    .url({
      protocol: /^smtps?$/,
      hostname: /./,
      error: `must be an address such as smtp://${withPassword}`,
    })
    .optional(),
  MAIL_FROM: z.string().regex(sender, 'must be an address, or a name and <address>').optional(),
  SECRET_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
  SECRET_KEY_PREVIOUS: z.string().min(1).optional(),
  LINK_SHIPPING: httpUrl.optional(),
  LINK_REFUND: httpUrl.optional(),
  LINK_PAYMENT_TERMS: httpUrl.optional(),
  LINK_COMMUNITY: httpUrl.optional(),
  LINK_VIDEOS: httpUrl.optional(),
})

const isNetwork = (text: string): boolean => {
  const [address = '', prefix = '0', ...rest] = text.split('/')
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits && rest.length === 0
}

/** The names of all environment variables that the server reads. */
export const variableNames = [...Object.keys(variables.shape), ...fileVariables]

/** Reads the environment. Throws a ConfigError with one line per mistake, without the values of secrets. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const mistakes: string[] = []
  const env = withSecretFiles(environment, mistakes)
  const values = parseEach(env, mistakes)
  mistakes.push(...findMisspelled(environment, variableNames))
  const publicHost = values.PUBLIC_URL ? new URL(values.PUBLIC_URL).hostname : undefined
  const development =
    loopback.test(values.HOST) &&
    (publicHost === undefined || loopback.test(publicHost)) &&
    values.TRUST_PROXY === false
  const keysSet = values.RAZORPAY_KEY_ID !== undefined && values.RAZORPAY_KEY_SECRET !== undefined
  const mode = values.PAYMENTS ?? (keysSet ? 'razorpay' : development ? 'mock' : 'off')
  const onlyHere = 'is for development: HOST and PUBLIC_URL must be loopback and TRUST_PROXY off'
  if (mode === 'mock' && !development) mistakes.push(`PAYMENTS: mock ${onlyHere}`)
  if (!development) mistakes.push(...listSetShopUrls(values).map((name) => `${name}: ${onlyHere}`))
  if (values.RATE_LIMITS === 'off' && !development) mistakes.push(`RATE_LIMITS: off ${onlyHere}`)
  if (!keysSet && (values.RAZORPAY_KEY_ID ?? values.RAZORPAY_KEY_SECRET) !== undefined) {
    mistakes.push('RAZORPAY_KEY_ID: requires RAZORPAY_KEY_SECRET, and vice versa')
  }
  if (!isSafeToCall(values.RAZORPAY_API_URL)) {
    mistakes.push('RAZORPAY_API_URL: must be an https address, because the key secret is sent to it')
  }
  if (!isSafeToCall(values.LEAKED_PASSWORDS_URL)) {
    mistakes.push(
      'LEAKED_PASSWORDS_URL: must be an https address, because parts of password hashes are sent to it',
    )
  }
  if (mode === 'razorpay' && !keysSet) {
    mistakes.push('PAYMENTS: razorpay needs RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET')
  }
  if (values.DATABASE_URL && !values.SECRET_KEY) {
    mistakes.push('SECRET_KEY: is required with DATABASE_URL (at least 32 random characters)')
  }
  if (values.SECRET_KEY_PREVIOUS && !values.SECRET_KEY) {
    mistakes.push('SECRET_KEY_PREVIOUS: requires SECRET_KEY, the key that replaces it')
  }
  if (values.DATABASE_URL && values.BACKUP_EVERY > 0) {
    mistakes.push(
      'BACKUP_EVERY: is for the embedded database; docs/operations.md shows base backups of a database server',
    )
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  const dataDir = resolve(values.DATA_DIR)
  return {
    port: values.PORT,
    host: values.HOST,
    dataDir,
    databaseUrl: values.DATABASE_URL,
    publicUrl: values.PUBLIC_URL,
    basePath: values.PUBLIC_URL === undefined ? '' : pathOf(values.PUBLIC_URL).replace(/\/+$/, ''),
    trustProxy: values.TRUST_PROXY,
    hstsSubdomains: values.HSTS_SUBDOMAINS === 'on',
    registration: values.REGISTRATION,
    passwordPolicy: values.PASSWORD_POLICY,
    vpnRangesFile: values.VPN_RANGES_FILE === undefined ? undefined : resolve(values.VPN_RANGES_FILE),
    leakedPasswordsUrl: values.LEAKED_PASSWORDS_URL,
    webhookNetworks: values.WEBHOOK_NETWORKS,
    shopUrls: shopUrlsOf(values),
    defaultPlan: values.DEFAULT_PLAN ?? (mode === 'off' ? 'premium' : 'free'),
    rateLimits: values.RATE_LIMITS,
    logLevel: values.LOG_LEVEL,
    metricsToken: values.METRICS_TOKEN,
    payments: {
      mode,
      keyId: values.RAZORPAY_KEY_ID,
      keySecret: values.RAZORPAY_KEY_SECRET,
      webhookSecret: values.RAZORPAY_WEBHOOK_SECRET,
      apiUrl: values.RAZORPAY_API_URL,
    },
    prices: { monthly: values.PRICE_MONTHLY, yearly: values.PRICE_YEARLY, currency: values.CURRENCY },
    auditDays: values.AUDIT_DAYS,
    backups: backupsOf(values, dataDir, values.MAIL_FROM),
    shutdownDelayMs: values.SHUTDOWN_DELAY,
    slowQueryMs: values.SLOW_QUERY_MS,
    smtpUrl: values.SMTP_URL,
    mailFrom: values.MAIL_FROM,
    passwordReset:
      values.SMTP_URL !== undefined && (values.PUBLIC_URL !== undefined || development) ? 'mail' : 'operator',
    secretKey: values.SECRET_KEY,
    secretKeyPrevious: values.SECRET_KEY_PREVIOUS,
    links: {
      shipping: values.LINK_SHIPPING ?? null,
      refund: values.LINK_REFUND ?? null,
      paymentTerms: values.LINK_PAYMENT_TERMS ?? null,
      community: values.LINK_COMMUNITY ?? null,
      videos: values.LINK_VIDEOS ?? null,
    },
    development,
  }
}

/** Whether an address is encrypted, or on this machine. */
function isSafeToCall(url: string | undefined): boolean {
  if (url === undefined) return true
  const { protocol, hostname } = new URL(url)
  return protocol !== 'http:' || loopback.test(hostname)
}

/** The URL of a server that listens on this host and port. */
export function localUrl({ host }: Pick<Config, 'host'>, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Parses each variable on its own, so that all mistakes are reported; an invalid one falls back to its default. */
function parseEach(env: Record<string, string | undefined>, mistakes: string[]) {
  const values = Object.entries(variables.shape).map(([name, schema]) => {
    const parsed = schema.safeParse(env[name])
    if (parsed.success) return [name, parsed.data]
    for (const issue of parsed.error.issues) mistakes.push(`${name}: ${issue.message}`)
    return [name, schema.parse(undefined)]
  })
  return Object.fromEntries(values) as z.output<typeof variables>
}
