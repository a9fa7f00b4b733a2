import { KeywardNetworkError } from './errors.ts'

/** Work that concurrent calls share. */
export class Flight<T> {
  #running: Promise<T> | undefined

  /** Joins the work that is under way, or starts it; waits until `deadline`, a time of `performance.now()`, at most. */
  run(work: () => Promise<T>, deadline: number): Promise<T> {
    if (this.#running) return within(this.#running, deadline)
    const running = work().finally(() => {
      this.#running = undefined
    })
    this.#running = running
    return running
  }
}

async function within<T>(work: Promise<T>, deadline: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const fail = () =>
      reject(new KeywardNetworkError('timed_out', 'No answer in time', { outcomeUnknown: false }))
    timer = setTimeout(fail, Math.max(0, deadline - performance.now()))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
