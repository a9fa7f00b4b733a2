import { defineConfig } from '@playwright/test'
import journeys from './playwright.config.ts'
import { phone } from './repeated.ts'

/** Takes pictures of the pages into screenshots/ and of those that the README shows; not part of the tests. */
export default defineConfig({
  ...journeys,
  testDir: './pictures',
  workers: 1,
  projects: [
    { name: 'desktop', use: { viewport: { width: 1280, height: 800 } } },
    { name: 'phone', use: { viewport: phone, deviceScaleFactor: 1 } },
  ],
})
