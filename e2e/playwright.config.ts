import { defineConfig, devices } from '@playwright/test'
import { browserPath } from './browser.ts'

const executablePath = await browserPath()

/** Journeys on the built product, on a desktop and on a phone; every test file starts a server of its own. */
export default defineConfig({
  testDir: './journeys',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  fullyParallel: false,
  workers: 2,
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
    { name: 'desktop', use: { viewport: { width: 1280, height: 800 } } },
    { name: 'phone', use: { ...devices['Pixel 7'], viewport: { width: 390, height: 844 } } },
  ],
})
