import { defineConfig } from 'vitest/config'

const server = 'apps/server/{src,test}/**/*.test.ts'
const setupFiles = ['apps/server/test/property-seed.ts']
const slices = 'apps/server/test/slices/**/*.test.ts'

/** Code tests once; slices of the server on both databases, by the same files. */
export default defineConfig({
  test: {
    testTimeout: 40_000,
    hookTimeout: 60_000,
    // As with the browser: a busy machine may lose one race; twice in a row is a fault.
    retry: process.env.CI === undefined ? 0 : 1,
    projects: [
      {
        test: {
          name: 'code',
          setupFiles,
          include: [
            server,
            'apps/console/src/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'examples/*/test/**/*.test.ts',
            'docs/**/*.test.ts',
          ],
          exclude: [slices, '**/node_modules/**'],
        },
      },
      { test: { name: 'sqlite', setupFiles, include: [slices], env: { TEST_DATABASE: 'sqlite' } } },
      {
        test: {
          name: 'postgres',
          setupFiles,
          include: [slices],
          env: { TEST_DATABASE: 'postgres' },
          globalSetup: 'apps/server/test/postgres-setup.ts',
        },
      },
    ],
  },
})
