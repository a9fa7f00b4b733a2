import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base } from '@playwright/test'
import { freePort } from '../apps/server/test/free-port.ts'
import { type ServerProcess, startProcess } from '../apps/server/test/server-process.ts'

/** A running server with its own empty database. */
export interface Keyward {
  url: string
  dataDir: string
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  start(): Promise<void>
}

/** Every worker has its own server; tests sign up their own owners on it. */
export const test = base.extend<
  { baseURL: string; clean: undefined },
  { keyward: Keyward; environment: Record<string, string> }
>({
  environment: [{}, { scope: 'worker', option: true }],
  keyward: [
    async ({ environment }, use) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'keyward-e2e-'))
      const port = await freePort()
      const keyward = control(port, dataDir, environment)
      await keyward.start()
      await use(keyward)
      await keyward.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
    { scope: 'worker' },
  ],
  baseURL: ({ keyward }, use) => use(keyward.url),
  // People cannot use a prerendered page before its scripts are loaded, but Playwright fills its fields.
  page: async ({ page }, use) => {
    const goto = page.goto.bind(page)
    page.goto = async (...given) => {
      const response = await goto(...given)
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
