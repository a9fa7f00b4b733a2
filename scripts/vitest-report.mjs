import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** A Vitest reporter that writes the results for scripts/test.mjs to the file TEST_REPORT. */
export default class Report {
  onTestRunEnd(modules, errors) {
    const report = { passed: 0, failed: [], flaky: [], skipped: [], files: [] }
    for (const { message, stack } of errors) report.failed.push(`outside of the tests: ${stack ?? message}`)
    for (const module of modules) {
      const file = `${relative(process.cwd(), module.moduleId)} (${module.project.name})`
      report.files.push({ file, ms: module.diagnostic().duration })
      for (const { message } of module.errors()) report.failed.push(`${file}: ${message}`)
      for (const test of module.children.allTests()) {
        const name = `${file}: ${test.fullName}`
        const { state, errors: mistakes = [] } = test.result()
        if (state === 'skipped') report.skipped.push(name)
        else if (state !== 'passed')
          report.failed.push([name, ...mistakes.map(({ stack, message }) => stack ?? message)].join('\n'))
        else {
          report.passed += 1
          if (test.diagnostic()?.flaky) report.flaky.push(name)
        }
      }
    }
    writeFileSync(process.env.TEST_REPORT, JSON.stringify(report))
  }
}
