// How long the phases of `npm test` take, beside the budget of a machine with two quiet cores.
import { cpus } from 'node:os'

const budgetSeconds = 600
/** Seconds of the processors. They depend less on other load than the time that passes, so a phase is judged by them. */
const budgets = { install: 40, builds: 25, tests: 980 }

export class Times {
  #began = { at: performance.now(), busy: busySeconds() }
  #phases = []

  /** Runs a phase. Those that run beside each other are parts of one, and have no processor time of their own. */
  async measure(name, work, { isPart = false } = {}) {
    const at = performance.now()
    const busy = busySeconds()
    const result = await work()
    const processor = isPart ? undefined : busySeconds() - busy
    this.#phases.push({ name, seconds: (performance.now() - at) / 1000, processor })
    return result
  }

  /** What to print at the end; a warning never fails a run, because a slow machine is no fault. */
  lines({ isFull }) {
    const limits = isFull ? {} : budgets
    const all = (performance.now() - this.#began.at) / 1000
    const busy = (busySeconds() - this.#began.busy) / all / cpus().length
    const lines = this.#phases.map(({ name, seconds, processor }) => {
      const used = processor === undefined ? '' : `, ${Math.round(processor)} of the processors`
      const budget = limits[name] === undefined ? '' : ` (budget ${limits[name]})`
      return `time: ${name} ${Math.round(seconds)} seconds${used}${budget}`
    })
    lines.push(`time: all ${Math.round(all)} seconds, processors busy for ${Math.round(busy * 100)} %`)
    for (const { name, processor } of this.#phases)
      if (processor > limits[name])
        lines.push(
          `warning: ${name} took ${Math.round(processor)} seconds of the processors, more than its budget of ${limits[name]}`,
        )
    if (!isFull && all > budgetSeconds)
      lines.push(
        `warning: all took ${Math.round(all)} seconds, more than the budget of ${budgetSeconds} on two quiet cores`,
      )
    return lines
  }
}

/** The time that all processors have worked, for whatever process: browsers end without a parent that could count theirs. */
const busySeconds = () =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0) / 1000
