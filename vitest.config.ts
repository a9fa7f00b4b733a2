import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

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
/** Tests that replace globals before their imports, so each needs a worker of its own. */
const replacing = ['api/call', 'api/query-client', 'list/bulk'].map(
  (name) => `apps/console/src/lib/${name}.test.ts`,
)
const setupFiles = ['apps/server/test/property-seed.ts']
const slices = 'apps/server/test/slices/**/*.test.ts'
// Every slice starts servers of its own, so its file needs no fresh modules: that halves the processor time.
const slice = { setupFiles, include: [slices], isolate: false }
const isFull = process.env.TEST_FULL === '1'
/** The files of tests whose first line begins so. */
const saying = (start: string) =>
  ['apps/*/test/**/*.test.ts', 'examples/*/test/*.test.ts', 'sdks/**/*.test.ts'].flatMap((pattern) =>
    globSync(pattern, { cwd: import.meta.dirname }).filter((file) =>
      readFileSync(join(import.meta.dirname, file), 'utf8').startsWith(start),
    ),
  )
/** In `npm test` these slices run once: what they assert is decided before any SQL, or others send the same statements. */
const onSqliteAlone = saying('// On SQLite alone')
const onSqliteFirst = isFull ? [] : saying('// On PostgreSQL in the full run')
const rare = isFull ? [] : saying('// In the full run')

/** Files that wait most of their time begin first, beside those that need the processors. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const isWaiting = ({ moduleId }: TestSpecification) =>
      /conformance|postgres-(outage|hosts|standby|breaks)|backup|move|kill|rotation|lazy-move|events\.test/.test(
        moduleId,
      )
    return (await super.sort(files)).toSorted((a, b) => Number(isWaiting(b)) - Number(isWaiting(a)))
  }
}

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
    sequence: { sequencer: WaitingFirst },
    projects: [
      {
        // These tests keep no state outside of their file, so one worker runs many: that halves the processor time.
        test: { name: 'code', setupFiles, include: code, exclude: replacing, isolate: false },
      },
      { test: { name: 'globals', setupFiles, include: replacing } },
      {
        test: {
          name: 'programs',
          setupFiles,
          isolate: false,
          include: [
            'apps/server/test/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'examples/*/test/**/*.test.ts',
            'docs/**/*.test.ts',
            'sdks/**/*.test.ts',
            'e2e/*.test.ts',
          ],
          exclude: [slices, contract, ...written, ...rare, '**/node_modules/**'],
        },
      },
      {
        test: {
          name: 'sqlite',
          ...slice,
          exclude: ['apps/server/test/slices/postgres-*.test.ts', ...rare],
          env: { TEST_DATABASE: 'sqlite' },
        },
      },
      {
        test: {
          name: 'postgres',
          ...slice,
          exclude: [...onSqliteAlone, ...onSqliteFirst, ...rare],
          env: { TEST_DATABASE: 'postgres' },
          globalSetup: 'apps/server/test/postgres-setup.ts',
        },
      },
    ],
  },
})
