import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { type Config, localUrl, loopback } from './config.ts'
import { hour, toIso } from './core/clock.ts'
import { version } from './core/version.ts'
import { findLooseModes } from './db/prepare.ts'

interface Found {
  interfaces?: Interfaces
  /** The token of the link for the first owner, and when it ends. */
  firstOwner?: { token: string; until: number } | undefined
}

/** What an operator should know after a start. */
export function greeting(
  config: Config,
  port: number,
  environment: Record<string, string | undefined>,
  { interfaces = networkInterfaces(), firstOwner }: Found = {},
): string {
  const [address, ...others] = addressesOf(config, port, interfaces)
  const payments = { mock: 'simulated', razorpay: 'Razorpay', off: 'off' }[config.payments.mode]
  const lines = [
    `Keyward is ready: ${address}`,
    ...others.map((other) => `  also at   ${other}`),
    `  version   ${version}`,
    `  data      ${config.databaseUrl ? 'PostgreSQL' : config.dataDir}`,
    ...(config.backups.everyMs > 0 ? [`  backups   ${describeBackups(config)}`] : []),
    `  payments  ${payments}`,
    `  mail      ${config.smtpUrl ? 'by SMTP' : 'to this log'}`,
    `  passwords ${describePasswordReset(config)}`,
    ...(config.payments.mode === 'razorpay' && !config.payments.webhookSecret
      ? ['  webhooks  rejected: RAZORPAY_WEBHOOK_SECRET is not set; payments are fetched every few minutes']
      : []),
    ...(config.rateLimits === 'off' ? ['  limits    off: sign-in attempts are not counted'] : []),
    ...(config.databaseUrl ? [] : findLooseModes(config.dataDir)).map((line) => `  warning   ${line}`),
    ...(config.defaultPlan === 'premium' ? ['  plan      premium for every account'] : []),
    ...(config.defaultPlan === 'premium' && config.registration === 'open' && !config.development
      ? ['  warning   anyone can register and gets premium: set REGISTRATION=closed or DEFAULT_PLAN=free']
      : []),
    ...(config.registration === 'closed' ? ['  sign-up   closed'] : []),
    // The token follows `#`, so it appears in no log of requests and no Referer.
    ...(firstOwner
      ? [
          `  owner     create the first account, once, until ${toIso(firstOwner.until)}: ${address}/auth?tab=sign-up#${firstOwner.token}`,
        ]
      : []),
    ...(isReadable(config)
      ? [
          '  warning   plain HTTP: others on the network can read passwords and keys; use a proxy with TLS and set PUBLIC_URL and TRUST_PROXY',
        ]
      : []),
    ...(environment.WORKERS
      ? [
          '  warning   WORKERS has no effect: one process answers all; for more, let several nodes share a PostgreSQL',
        ]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

const describeBackups = ({ backups: { everyMs, directory, keep } }: Config): string =>
  `every ${everyMs / hour} h into ${directory}, which keeps ${keep}`

/** Describes how forgotten passwords are reset, and what mailed links need. */
function describePasswordReset({ passwordReset, smtpUrl }: Config): string {
  if (passwordReset === 'mail') return 'reset by mailed links'
  const missing = smtpUrl === undefined ? 'SMTP_URL' : 'PUBLIC_URL'
  return `reset by keyward owner reset-password alone: ${missing} is not set`
}

type Interfaces = NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]>

/** The addresses that a browser can open; a server on all interfaces has one for each, that of this machine first. */
function addressesOf(config: Config, port: number, interfaces: Interfaces): string[] {
  if (config.publicUrl !== undefined) return [config.publicUrl]
  const families = everyInterface[config.host]
  if (!families) return [localUrl(config, port)]
  return Object.values(interfaces)
    .flatMap((all) => all ?? [])
    .filter(({ address, family }) => families.includes(family) && !linkLocal.test(address))
    .sort((a, b) => Number(b.internal) - Number(a.internal))
    .map(({ address }) => localUrl({ host: address }, port))
}

const everyInterface: Record<string, readonly string[]> = { '0.0.0.0': ['IPv4'], '::': ['IPv4', 'IPv6'] }

/** A browser opens such an address only together with the name of an interface. */
const linkLocal = /^fe[89ab]/i

/** Whether people on the network between can read what browsers and programs send. */
function isReadable({ host, publicUrl }: Config): boolean {
  if (publicUrl === undefined) return !loopback.test(host)
  const { protocol, hostname } = new URL(publicUrl)
  return protocol === 'http:' && !loopback.test(hostname)
}
