import { availableParallelism } from 'node:os'
import { defineConfig, devices } from '@playwright/test'
import { browserPath } from './browser.ts'

const executablePath = await browserPath()

/**
 * Journeys on the built product. All run on a desktop; those tagged `@phone` also, and those tagged `@phone-only` only, on a
 * phone: where the layout differs. Every worker starts a server of its own.
 */
export default defineConfig({
  testDir: './journeys',
  // A limit ends a test that hangs. A slow machine reaches none of them.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  fullyParallel: true,
  // A journey waits for about half of its time, so that two of them fill a core.
  workers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
  // A busy machine may lose one race with a page; twice in a row is a fault.
  retries: process.env.CI === undefined ? 0 : 1,
  forbidOnly: process.env.CI !== undefined,
  reporter: 'list',
  use: {
    launchOptions: { executablePath, args: ['--no-sandbox'] },
    locale: 'en-US',
    timezoneId: 'UTC',
    screenshot: 'only-on-failure',
    permissions: ['clipboard-read', 'clipboard-write'],
    contextOptions: { reducedMotion: 'reduce' },
  },
  projects: [
    { name: 'desktop', grepInvert: /@phone-only/, use: { viewport: { width: 1280, height: 800 } } },
    {
      name: 'phone',
      grep: /@phone/,
      use: { ...devices['Pixel 7'], viewport: { width: 390, height: 844 } },
    },
  ],
})
