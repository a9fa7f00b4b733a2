// How long the phases of `npm test` take, beside the budget of a machine with two quiet cores.
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

const budgetSeconds = 600
/** Seconds of one processor. They depend less on other load than the time that passes, so a phase is judged by them. */
const budgets = { checks: 70, builds: 25, code: 480, browser: 600 }

export class Times {
  #began = performance.now()
  #phases = []
  #counted = childSeconds()

  /** Runs a phase; others may run at the same time. */
  async measure(name, work) {
    const began = performance.now()
    const result = await work()
    // The processor time of a child is known once it has ended, so the time since the last end belongs to this phase.
    const counted = childSeconds()
    const seconds = (performance.now() - began) / 1000
    this.#phases.push({ name, seconds, processor: counted - this.#counted })
    this.#counted = counted
    return result
  }

  /** What to print at the end; a warning never fails a run, because a slow machine is no fault. */
  lines(limits = budgets) {
    const all = (performance.now() - this.#began) / 1000
    const phases = this.#phases.map(({ name, seconds, processor }) => {
      const used = Number.isNaN(processor) ? '' : `, ${Math.round(processor)} of the processors`
      const budget = limits[name] === undefined ? '' : ` (budget ${limits[name]})`
      return `time: ${name} ${Math.round(seconds)} seconds${used}${budget}`
    })
    const busy = this.#phases.reduce((sum, { processor }) => sum + processor, 0) / all / cpus().length
    const share = Number.isNaN(busy) ? '' : `, processors busy for ${Math.round(busy * 100)} %`
    const warnings = this.#phases
      .filter(({ name, processor }) => processor > limits[name])
      .map(
        ({ name, processor }) =>
          `warning: ${name} took ${Math.round(processor)} seconds of the processors, more than its budget of ${limits[name]}`,
      )
    if (limits === budgets && all > budgetSeconds)
      warnings.push(
        `warning: all took ${Math.round(all)} seconds, more than the budget of ${budgetSeconds} on two quiet cores`,
      )
    return [...phases, `time: all ${Math.round(all)} seconds${share}`, ...warnings]
  }
}

/** The processor time of all children that have ended, with theirs; NaN where the system does not say. */
function childSeconds() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    return Number.NaN
  }
}
