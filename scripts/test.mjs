// Runs everything: checks, code, both databases, the browser. The last line counts the results. With `--full`, races and kills
// run at their full sizes.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSdk, compiled, ensureConsole, ensureInstalled, root, run } from './ensure.mjs'
import { browser, code, runTests } from './test-runs.mjs'
import { installToolChains } from './tool-chains.mjs'

ensureInstalled({ dev: true })
const env = process.argv.includes('--full') ? { ...compiled, TEST_FULL: '1' } : compiled
// A failure on a laptop is looked at at once. In CI a second run tells load from a fault.
const repeats = process.env.CI !== undefined
const reports = mkdtempSync(join(tmpdir(), 'keyward-reports-'))
const counts = { passed: 0, failed: 0, skipped: 0 }
/** Printed at the end, because the top of a long log is often cut off. */
const named = { flaky: [], failed: [] }
/** How long each file of tests took. */
const files = []
try {
  const toolChains = installToolChains()
  await step('checks', checks)
  await buildSdk()
  await ensureConsole()
  await toolChains
  await step('code', () => runTests(code(env), reports, repeats))
  await step('browser', () => runTests(browser(env), reports, repeats))
} finally {
  rmSync(reports, { recursive: true, force: true })
}
const slowest = files.sort((a, b) => b.ms - a.ms).slice(0, 10)
for (const { file, ms } of slowest) console.log(`slow: ${Math.round(ms / 1000)} seconds ${file}`)
for (const [outcome, names] of Object.entries(named))
  for (const name of names) console.log(`${outcome}: ${name}`)
if (named.flaky.length > 0) console.log(`${named.flaky.length} flaky: passed when their file ran again alone`)
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`)
process.exitCode = counts.failed === 0 ? 0 : 1

async function step(name, work) {
  const began = performance.now()
  const before = processorTimes()
  const { exit, passed, failed, flaky, skipped, files: ran } = await work()
  // Fail a run that fails without a failed test or that runs no test.
  if (failed.length === 0 && (exit !== 0 || passed === 0))
    failed.push({ text: `${name} exited with ${exit}` })
  counts.passed += passed
  counts.failed += failed.length
  counts.skipped += skipped.length
  named.failed.push(...failed.map(({ text }) => text))
  named.flaky.push(...flaky.map(({ text }) => text))
  files.push(...ran)
  const after = processorTimes()
  const busy = 1 - (after.idle - before.idle) / (after.all - before.all)
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(`${name}: ${seconds} seconds, processors busy for ${Math.round(busy * 100)} %`)
}

/** Milliseconds that all processors of the machine have spent, and been idle, since it started. */
function processorTimes() {
  const sums = { idle: 0, all: 0 }
  for (const { times } of cpus()) {
    sums.idle += times.idle
    sums.all += times.user + times.nice + times.sys + times.idle + times.irq
  }
  return sums
}

async function checks() {
  const exit = await run([`${root}/scripts/check.mjs`])
  return { exit, passed: exit === 0 ? 1 : 0, failed: [], flaky: [], skipped: [], files: [] }
}
