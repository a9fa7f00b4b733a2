// Everything: checks, code, slices on both databases, the browser. Ends with one line of counts.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSdk, ensureConsole, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled({ dev: true })
const reports = mkdtempSync(join(tmpdir(), 'keyward-reports-'))
const counts = { passed: 0, failed: 0 }
try {
  await step('checks', () => run([`${root}/scripts/check.mjs`]))
  await buildSdk()
  await ensureConsole()
  await code()
  await browser()
} finally {
  rmSync(reports, { recursive: true, force: true })
}
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed === 0 ? 0 : 1

async function step(name, work) {
  const ok = (await work()) === 0
  counts[ok ? 'passed' : 'failed'] += 1
  if (!ok) console.error(`${name} failed`)
}

async function code() {
  const report = join(reports, 'code.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const exit = await run([`${root}/node_modules/vitest/vitest.mjs`, 'run', ...reporters])
  const { numPassedTests = 0, numFailedTests = 0 } = read(report)
  count(numPassedTests, numFailedTests, exit)
}

async function browser() {
  const report = join(reports, 'browser.json')
  const exit = await run([`${root}/node_modules/@playwright/test/cli.js`, 'test', '--reporter=list,json'], {
    cwd: join(root, 'e2e'),
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: report },
  })
  const { expected = 0, flaky = 0, unexpected = 0 } = read(report).stats ?? {}
  count(expected + flaky, unexpected, exit)
}

/** A run that fails without a failed test, or in which no test ran, is a failure of its own. */
function count(passed, failed, exit) {
  counts.passed += passed
  counts.failed += failed
  if (failed === 0 && (exit !== 0 || passed === 0)) counts.failed += 1
}

function read(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return {}
  }
}
