import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PaymentStandIn, startPaymentStandIn } from '@keyward/payment-stand-in'
import { test as base } from '@playwright/test'
import { freePort } from '../apps/server/test/free-port.ts'
import { type ServerProcess, startProcess } from '../apps/server/test/server-process.ts'
import { startShopHosts } from '../apps/server/test/shop-protocols.ts'
import { SmtpSink } from '../apps/server/test/smtp-sink.ts'

export const paymentKeys = {
  keyId: 'rzp_test_keyward',
  keySecret: 'EnLs21M47BllR3X8PSFtjtbd',
  webhookSecret: 'a secret of webhooks alone',
}

/** A running server with its own empty database. */
export interface Keyward {
  url: string
  dataDir: string
  /** What it wrote since its last start. */
  output(): string
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  start(): Promise<void>
}

type ShopHosts = Awaited<ReturnType<typeof startShopHosts>>
type Environment = Record<string, string>

/**
 * Every worker has its own servers, one for each environment; tests sign up their own owners on them. All journeys
 * share these fixtures of workers: with others Playwright would start another worker and another browser.
 */
export const test = base.extend<
  { baseURL: string; clean: undefined; environment: Environment; keyward: Keyward },
  {
    serverOf: (environment: Environment) => Promise<Keyward>
    mails: SmtpSink
    provider: PaymentStandIn
    shopHosts: ShopHosts
  }
>({
  environment: [{}, { option: true }],
  serverOf: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture from this parameter
    async ({}, use) => {
      const servers = new Map<string, Keyward>()
      await use(async (environment) => {
        const name = JSON.stringify(environment)
        const running = servers.get(name)
        if (running) return running
        const dataDir = mkdtempSync(join(process.env.TEST_FILES ?? tmpdir(), 'keyward-e2e-'))
        const keyward = control(await freePort(), dataDir, environment)
        servers.set(name, keyward)
        await keyward.start()
        return keyward
      })
      for (const keyward of servers.values()) {
        await keyward.stop()
        rmSync(keyward.dataDir, { recursive: true, force: true })
      }
    },
    { scope: 'worker' },
  ],
  /** A mail server that stores mail. Like the provider below, it starts when a journey first needs it. */
  mails: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      const sink = await SmtpSink.start()
      await use(sink)
      await sink.stop()
    },
    { scope: 'worker' },
  ],
  /** A stand-in of the payment provider. */
  provider: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      const provider = await startPaymentStandIn(paymentKeys)
      await use(provider)
      await provider.close()
    },
    { scope: 'worker' },
  ],
  /** The servers of all kinds of shops, from which orders are read back. */
  shopHosts: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      const hosts = await startShopHosts()
      await use(hosts)
      hosts.close()
    },
    { scope: 'worker' },
  ],
  keyward: async ({ environment, serverOf }, use) => use(await serverOf(environment)),
  baseURL: ({ keyward }, use) => use(keyward.url),
  // People cannot use a prerendered page before its scripts are loaded, but Playwright fills its fields.
  page: async ({ page }, use) => {
    const goto = page.goto.bind(page)
    page.goto = async (...args) => {
      const response = await goto(...args)
      // Where scripts fail to load, the page stays inert.
      await page
        .locator('#root[inert]')
        .waitFor({ state: 'detached', timeout: 60_000 })
        .catch(() => {})
      return response
    }
    await use(page)
  },
  // In every journey the page may not throw, log errors or violate the Content-Security-Policy. Ignore the browser's own
  // logs of failed requests: journeys check how the page shows them.
  clean: [
    async ({ page }, use) => {
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(error.stack ?? error.message))
      page.on('console', (message) => {
        const text = message.text()
        const missing = /^Failed to load resource|Failed to fetch dynamically imported module/.test(text)
        if (message.type() === 'error' && !missing) problems.push(text)
      })
      await use(undefined)
      if (problems.length > 0) throw new Error(`The page reported:\n${problems.join('\n')}`)
    },
    { auto: true },
  ],
})

export { expect } from '@playwright/test'

function control(port: number, dataDir: string, environment: Record<string, string>): Keyward {
  let running: ServerProcess | undefined
  return {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    output: () => running?.output() ?? '',
    async start() {
      running = await startProcess({
        PORT: String(port),
        HOST: '127.0.0.1',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'error',
        ...environment,
      })
    },
    async stop(signal = 'SIGTERM') {
      await running?.end(signal)
    },
  }
}
