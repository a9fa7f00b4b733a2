// Runs the tests of the code and of the browser, and reads their reports.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from './ensure.mjs'

/** So many files with failures run again, one at a time. More are a fault, which a second run only delays. */
const repeatedFilesMax = 4

/**
 * A kind of run: `start(report, only)` runs all tests, or those of one file and project, and returns
 * `{ exit, passed, failed, skipped, files }`. Each failure has an `id`, a `text`, and the `file` and `project` to run again.
 */
export const code = (env) => ({
  name: 'code',
  async start(report, only) {
    const filter = only ? ['--project', only.project, only.file] : []
    const reporters = ['--reporter=default', `--reporter=${root}/scripts/vitest-report.mjs`]
    const exit = await run([`${root}/node_modules/vitest/vitest.mjs`, 'run', ...reporters, ...filter], {
      env: { ...env, TEST_REPORT: report },
      label: 'code   ',
    })
    return { exit, passed: 0, failed: [], skipped: [], files: [], ...read(report) }
  },
})

export const browser = (env) => ({
  name: 'browser',
  async start(report, only) {
    const filter = only ? ['--workers=1', `--project=${only.project}`, only.file] : []
    const exit = await run(
      [`${root}/node_modules/@playwright/test/cli.js`, 'test', '--reporter=list,json', ...filter],
      {
        cwd: join(root, 'e2e'),
        env: { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: report },
        label: 'browser',
      },
    )
    const { suites = [], errors = [] } = read(report)
    const tests = suites.flatMap(testsOf)
    const having = (status) => tests.filter((test) => test.status === status)
    return {
      exit,
      passed: having('expected').length,
      failed: [
        ...having('unexpected').map(({ id, text, file, project }) => ({ id, text, file, project })),
        ...errors.map(({ message }) => ({ id: message, text: message })),
      ],
      skipped: having('skipped').map(({ id }) => id),
      files: sumByFile(tests),
    }
  },
})

/**
 * Runs all tests of these kinds beside each other. Few files with failures of a kind then run again, each alone, if `repeats`:
 * what passes then is `flaky` and keeps its error, because load or a rare fault made it fail; what fails again has failed.
 */
export async function runTests(kinds, reports, repeats, measure = (_name, work) => work()) {
  const firsts = await Promise.all(
    kinds.map(({ name, start }) => measure(name, () => start(join(reports, `${name}.json`)))),
  )
  const outcomes = []
  for (const [at, kind] of kinds.entries()) outcomes.push(await repeat(kind, firsts[at], reports, repeats))
  return outcomes
}

async function repeat({ name, start }, first, reports, repeats) {
  const places = new Map(first.failed.map(({ file, project }) => [`${project}/${file}`, { file, project }]))
  const isOutside = first.failed.some(({ file }) => file === undefined)
  if (!repeats || isOutside || places.size === 0 || places.size > repeatedFilesMax)
    return { ...first, flaky: [] }
  const failed = []
  for (const [index, place] of [...places.values()].entries()) {
    console.log(`\n!!! ${place.file} (${place.project}) has failed and runs again, alone`)
    const again = await start(join(reports, `${name}-${index}.json`), place)
    if (again.passed === 0 && again.failed.length === 0) return { ...first, flaky: [] }
    failed.push(...again.failed)
  }
  const ids = new Set(failed.map(({ id }) => id))
  const flaky = first.failed.filter(({ id }) => !ids.has(id))
  return { ...first, exit: failed.length, passed: first.passed + flaky.length, failed, flaky }
}

function testsOf({ suites = [], specs = [] }) {
  const tests = specs.flatMap(({ file, title, tests: runs }) =>
    runs.map(({ status, projectName: project, results }) => {
      const id = `${file}: ${title} (${project})`
      const errors = results.flatMap(({ errors = [] }) => errors.map(({ message }) => message))
      const ms = results.reduce((sum, { duration }) => sum + duration, 0)
      return { status, id, text: [id, ...errors].join('\n'), file, project, ms }
    }),
  )
  return [...tests, ...suites.flatMap(testsOf)]
}

function sumByFile(tests) {
  const sums = new Map()
  for (const { file, project, ms } of tests) {
    const name = `${file} (${project})`
    sums.set(name, (sums.get(name) ?? 0) + ms)
  }
  return [...sums].map(([file, ms]) => ({ file, ms }))
}

function read(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return {}
  }
}
