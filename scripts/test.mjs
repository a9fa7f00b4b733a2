// Runs everything: checks, code, both databases, the browser. The last line counts the results.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSdk, compiled, ensureConsole, ensureInstalled, root, run } from './ensure.mjs'
import { installToolChains } from './tool-chains.mjs'

ensureInstalled({ dev: true })
const reports = mkdtempSync(join(tmpdir(), 'keyward-reports-'))
const counts = { passed: 0, failed: 0, skipped: 0 }
/** Printed at the end, because the top of a long log is often cut off. */
const named = { flaky: [], failed: [] }
try {
  const toolChains = installToolChains()
  await step('checks', checks)
  await buildSdk()
  await ensureConsole()
  await toolChains
  await step('code', code)
  await step('browser', browser)
} finally {
  rmSync(reports, { recursive: true, force: true })
}
for (const [outcome, names] of Object.entries(named))
  for (const name of names) console.log(`${outcome}: ${name}`)
if (named.flaky.length > 0) console.log(`${named.flaky.length} flaky: passed on a retry`)
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`)
process.exitCode = counts.failed === 0 ? 0 : 1

async function step(name, work) {
  const began = performance.now()
  const { exit, passed, failed, flaky, skipped } = await work()
  // Fail a run that fails without a failed test or that runs no test.
  if (failed.length === 0 && (exit !== 0 || passed === 0)) failed.push(`${name} exited with ${exit}`)
  counts.passed += passed
  counts.failed += failed.length
  counts.skipped += skipped.length
  named.failed.push(...failed)
  named.flaky.push(...flaky)
  console.log(`${name}: ${Math.round((performance.now() - began) / 1000)} seconds`)
}

async function checks() {
  const exit = await run([`${root}/scripts/check.mjs`])
  return { exit, passed: exit === 0 ? 1 : 0, failed: [], flaky: [], skipped: [] }
}

async function code() {
  const file = join(reports, 'code.json')
  const reporters = ['--reporter=default', `--reporter=${root}/scripts/vitest-report.mjs`]
  const exit = await run([`${root}/node_modules/vitest/vitest.mjs`, 'run', ...reporters], {
    env: { ...compiled, TEST_REPORT: file },
  })
  return { exit, passed: 0, failed: [], flaky: [], skipped: [], ...read(file) }
}

async function browser() {
  const file = join(reports, 'browser.json')
  const exit = await run([`${root}/node_modules/@playwright/test/cli.js`, 'test', '--reporter=list,json'], {
    cwd: join(root, 'e2e'),
    env: { ...compiled, PLAYWRIGHT_JSON_OUTPUT_NAME: file },
  })
  const { suites = [], errors = [] } = read(file)
  const tests = suites.flatMap(testsOf)
  const those = (status) => tests.filter((test) => test.status === status).map(({ name }) => name)
  return {
    exit,
    passed: those('expected').length + those('flaky').length,
    failed: [...those('unexpected'), ...errors.map(({ message }) => message)],
    flaky: those('flaky'),
    skipped: those('skipped'),
  }
}

function testsOf({ suites = [], specs = [] }) {
  const tests = specs.flatMap(({ file, title, tests: runs }) =>
    runs.map(({ status, projectName }) => ({ status, name: `${file}: ${title} (${projectName})` })),
  )
  return [...tests, ...suites.flatMap(testsOf)]
}

function read(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return {}
  }
}
