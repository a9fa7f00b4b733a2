// Everything: checks, code, slices on both databases, the browser. Ends with one line of counts.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSdk, ensureConsole, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled({ dev: true })
const reports = mkdtempSync(join(tmpdir(), 'keyward-reports-'))
const counts = { passed: 0, failed: 0 }
/** What failed, told again at the end: the end of a long log is what people are shown. */
const failures = []
try {
  await step('checks', () => run([`${root}/scripts/check.mjs`]))
  await buildSdk()
  await ensureConsole()
  await code()
  await browser()
} finally {
  rmSync(reports, { recursive: true, force: true })
}
for (const failure of failures) console.log(`failed: ${failure}`)
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed === 0 ? 0 : 1

async function step(name, work) {
  const ok = (await work()) === 0
  counts[ok ? 'passed' : 'failed'] += 1
  if (!ok) failures.push(name)
}

async function code() {
  const report = join(reports, 'code.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const exit = await run([`${root}/node_modules/vitest/vitest.mjs`, 'run', ...reporters])
  const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = read(report)
  for (const { name, message, assertionResults } of testResults) {
    if (message) failures.push(`${name}: ${message}`)
    for (const { status, fullName, failureMessages } of assertionResults)
      if (status === 'failed') failures.push(`${name}: ${fullName}\n${failureMessages.join('\n')}`)
  }
  count(numPassedTests, numFailedTests, exit)
}

async function browser() {
  const report = join(reports, 'browser.json')
  const exit = await run([`${root}/node_modules/@playwright/test/cli.js`, 'test', '--reporter=list,json'], {
    cwd: join(root, 'e2e'),
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: report },
  })
  const { stats = {}, suites = [] } = read(report)
  const { expected = 0, flaky = 0, unexpected = 0 } = stats
  for (const { file, title, projectName } of suites.flatMap(failedSpecs))
    failures.push(`${file}: ${title} (${projectName})`)
  count(expected + flaky, unexpected, exit)
}

function failedSpecs({ suites = [], specs = [] }) {
  const tests = specs.flatMap(({ file, title, tests }) => tests.map((test) => ({ file, title, ...test })))
  return [...tests.filter(({ status }) => status === 'unexpected'), ...suites.flatMap(failedSpecs)]
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
