import { defineConfig } from '@playwright/test'
import journeys from './playwright.config.ts'
import { phone } from './repeated.ts'

const desktop = { width: 1280, height: 800 }
const pages = { testMatch: 'pages.spec.ts' }

/**
 * Takes pictures of the pages into screenshots/ and of those that the README shows; not part of the tests. `contrast` has the
 * system's colors, and `long` has names of 80 characters.
 */
export default defineConfig({
  ...journeys,
  testDir: './pictures',
  workers: 1,
  projects: [
    { name: 'desktop', use: { viewport: desktop } },
    { name: 'phone', use: { viewport: phone, deviceScaleFactor: 1 } },
    { ...pages, name: 'contrast', use: { viewport: desktop, contextOptions: { forcedColors: 'active' } } },
    { ...pages, name: 'long', use: { viewport: desktop } },
    { ...pages, name: 'long-phone', use: { viewport: phone, deviceScaleFactor: 1 } },
  ],
})
