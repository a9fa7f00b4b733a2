import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const contract = 'packages/contract/test/**/*.test.ts'
const written = [
  'apps/server/test/spec-coverage.test.ts',
  'apps/server/test/every-row.test.ts',
  'packages/sdk/test/generated.test.ts',
]
const code = [
  'apps/server/src/**/*.test.ts',
  'apps/console/*.test.ts',
  'apps/console/src/**/*.test.ts',
  contract,
  ...written,
]
/** Tests that replace globals before their imports. */
const replacing = ['api/call', 'api/query-client', 'list/bulk'].map(
  (name) => `apps/console/src/lib/${name}.test.ts`,
)
const setupFiles = ['apps/server/test/property-seed.ts']
const slices = 'apps/server/test/slices/**/*.test.ts'
// Every slice starts servers of its own, so its file needs no fresh modules: that halves the processor time.
const slice = { setupFiles, include: [slices], isolate: false }
const folder = new URL('apps/server/test/slices/', import.meta.url)
/** Slices whose first line says so run once: what they assert is decided before any SQL. */
const onSqliteAlone = readdirSync(folder)
  .filter((name) => readFileSync(new URL(name, folder), 'utf8').startsWith('// On SQLite alone'))
  .map((name) => `apps/server/test/slices/${name}`)

/** Code and programs once; slices of the server on both databases, by the same files, unless they say otherwise. */
export default defineConfig({
  test: {
    // A limit ends a test that hangs. A slow machine reaches none of them.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // More than cores: tests wait for servers, timers and disks, in some files most of the time.
    maxWorkers: Math.max(3, availableParallelism() + 1),
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // scripts/test-runs.mjs runs failed files again, alone.
    retry: 0,
    projects: [
      {
        // These tests keep no state outside of their file, so one worker runs many: that halves the processor time.
        test: { name: 'code', setupFiles, include: code, exclude: replacing, isolate: false },
      },
      {
        test: {
          name: 'programs',
          setupFiles,
          include: [
            ...replacing,
            'apps/server/test/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'examples/*/test/**/*.test.ts',
            'docs/**/*.test.ts',
            'sdks/**/*.test.ts',
            'e2e/*.test.ts',
          ],
          exclude: [slices, contract, ...written, '**/node_modules/**'],
        },
      },
      {
        test: {
          name: 'sqlite',
          ...slice,
          exclude: ['apps/server/test/slices/postgres-*.test.ts'],
          env: { TEST_DATABASE: 'sqlite' },
        },
      },
      {
        test: {
          name: 'postgres',
          ...slice,
          exclude: onSqliteAlone,
          env: { TEST_DATABASE: 'postgres' },
          globalSetup: 'apps/server/test/postgres-setup.ts',
        },
      },
    ],
  },
})
