// Runs everything: code on both databases beside the browser, and the checks in the time that both leave. The last line counts the results. With `--full`,
// races and kills run at their full sizes, and rare things run at all.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleServer } from './bundle-server.mjs'
import { buildSdk, compiled, ensureConsole, ensureInstalled, root, run } from './ensure.mjs'
import { memoryFolder } from './memory.mjs'
import { browser, code, runTests } from './test-runs.mjs'
import { Times } from './test-times.mjs'
import { installToolChains } from './tool-chains.mjs'

const times = new Times()
await times.measure('install', async () => ensureInstalled({ dev: true }))
const isFull = process.argv.includes('--full')
const memory = memoryFolder()
/** Holds the reports, and in memory all files of the tests. */
const folder = mkdtempSync(join(memory ?? tmpdir(), `keyward-tests-${process.pid}-`))
// PostgreSQL runs under another account.
chmodSync(folder, 0o1777)
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
const env = { ...compiled, ...(isFull && { TEST_FULL: '1' }) }
// A failure on a laptop is looked at at once. In CI a second run tells load from a fault.
const repeats = process.env.CI !== undefined
const counts = { passed: 0, failed: 0, skipped: 0 }
/** Characters of one failure that the end of the log repeats. */
const failureMax = 2000
/** Printed at the end, because the top of a long log is often cut off. */
const named = { flaky: [], failed: [] }
/** How long each file of tests took. */
const files = []
const toolChains = installToolChains(isFull)
await times.measure('builds', async () => {
  const [server] = await Promise.all([bundleServer(), buildSdk(), ensureConsole(), toolChains])
  env.TEST_SERVER = server
})
// Each of them waits for half of its time, so both together take little longer than the longer one.
const kinds = [
  code({ ...env, ...(memory && { TMPDIR: folder }) }),
  // The browser that is unpacked once stays in the folder of the system.
  browser({ ...env, TEST_FILES: folder }),
]
const measurePart = (name, work) => times.measure(name, work, { isPart: true })
const [checked, outcomes] = await times.measure('tests', () =>
  Promise.all([measurePart('checks', checks), runTests(kinds, folder, repeats, measurePart)]),
)
count('checks', checked)
for (const [at, { name }] of kinds.entries()) count(name, outcomes[at])
const slowest = files.sort((a, b) => b.ms - a.ms).slice(0, 10)
for (const { file, ms } of slowest) console.log(`slow: ${Math.round(ms / 1000)} seconds ${file}`)
for (const line of times.lines({ isFull })) console.log(line)
for (const text of named.failed) console.log(`failed: ${text.slice(0, failureMax)}`)
// Once more by name alone: the errors before can be long, and of a long log often only the end is kept.
for (const text of named.failed) console.log(`failed: ${text.split('\n', 1)[0]}`)
if (named.flaky.length > 0) {
  const frame = '!'.repeat(100)
  console.log(
    `${frame}\nFLAKY: passed only when their file ran again alone. Look into each of them.\n${frame}`,
  )
  for (const name of named.flaky) console.log(`flaky: ${name}`)
  console.log(`${frame}\n${named.flaky.length} flaky\n${frame}`)
}
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`)
process.exitCode = counts.failed === 0 ? 0 : 1

function count(name, { exit, passed, failed, flaky, skipped, files: ran }) {
  // Fail a run that fails without a failed test or that runs no test.
  if (failed.length === 0 && (exit !== 0 || passed === 0))
    failed.push({ text: `${name} exited with ${exit}` })
  counts.passed += passed
  counts.failed += failed.length
  counts.skipped += skipped.length
  named.failed.push(...failed.map(({ text }) => text))
  named.flaky.push(...flaky.map(({ text }) => text))
  files.push(...ran)
}

async function checks() {
  const exit = await run([`${root}/scripts/check.mjs`, '--beside'], { label: 'checks ' })
  return { exit, passed: exit === 0 ? 1 : 0, failed: [], flaky: [], skipped: [], files: [] }
}
