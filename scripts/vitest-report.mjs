import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** A Vitest reporter that writes the results for scripts/test-runs.mjs to the file TEST_REPORT. */
export default class Report {
  onTestRunEnd(modules, errors) {
    const report = { passed: 0, failed: [], skipped: [], files: [] }
    for (const { message, stack } of errors) {
      const text = `outside of the tests: ${stack ?? message}`
      report.failed.push({ id: text, text })
    }
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId)
      const project = module.project.name
      const name = `${file} (${project})`
      const fail = (id, mistakes) => {
        const text = [id, ...mistakes.map(({ stack, message }) => stack ?? message)].join('\n')
        report.failed.push({ id, text, file, project })
      }
      report.files.push({ file: name, ms: module.diagnostic().duration })
      // A hook that fails skips the tests of its suite.
      for (const suite of [module, ...module.children.allSuites()]) {
        const mistakes = suite.errors()
        if (mistakes.length > 0) fail(`${name}: ${suite.fullName ?? 'file'}`, mistakes)
      }
      for (const test of module.children.allTests()) {
        const id = `${name}: ${test.fullName}`
        const { state, errors: mistakes = [] } = test.result()
        if (state === 'skipped') report.skipped.push(id)
        else if (state === 'passed') report.passed += 1
        else fail(id, mistakes)
      }
    }
    writeFileSync(process.env.TEST_REPORT, JSON.stringify(report))
  }
}
