import { availableParallelism } from 'node:os'
import { defineConfig, devices } from '@playwright/test'
import { browserPath } from './browser.ts'
import { isFull, phone } from './repeated.ts'

const executablePath = await browserPath()
// Journeys open many pages for a short time: optimizing their code takes longer than running it.
const shortRuns = '--js-flags=--no-opt,--no-maglev,--min-semi-space-size=32'

/**
 * Journeys on the built product, on a desktop. In `npm run test:full`, those tagged `@full` run too, and on a phone those
 * tagged `@phone` too and those tagged `@phone-only` only. Every worker starts a server.
 */
export default defineConfig({
  testDir: './journeys',
  // Limits end tests that hang; slow machines do not reach them.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  fullyParallel: true,
  // A journey waits about half of its time, so up to two of them use one core.
  workers: Math.max(3, Math.ceil(availableParallelism() * 1.5)),
  retries: 0,
  forbidOnly: process.env.CI !== undefined,
  reporter: 'list',
  use: {
    launchOptions: { executablePath, args: ['--no-sandbox', shortRuns] },
    locale: 'en-US',
    timezoneId: 'UTC',
    screenshot: 'only-on-failure',
    permissions: ['clipboard-read', 'clipboard-write'],
    contextOptions: { reducedMotion: 'reduce' },
  },
  projects: [
    {
      name: 'desktop',
      grepInvert: isFull ? /@phone-only/ : /@phone-only|@full/,
      use: { viewport: { width: 1280, height: 800 } },
    },
    // A denser screen costs time to draw, and no journey looks at pixels.
    ...(isFull
      ? [
          {
            name: 'phone',
            grep: /@phone/,
            use: { ...devices['Pixel 7'], viewport: phone, deviceScaleFactor: 1 },
          },
        ]
      : []),
  ],
})
