interface Times {
  everyMs: number
  onError: (error: unknown) => void
}

/**
 * Runs `work` again and again once it is started, and when it is woken, one run at a time; a wake during a run makes another
 * one follow. Work may return after how many milliseconds it wants to run next. `end` aborts a run, and waits for it.
 */
export function createSchedule(
  work: (signal: AbortSignal) => Promise<number | undefined>,
  { everyMs, onError }: Times,
) {
  const stopping = new AbortController()
  const { signal } = stopping
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isAsked = false

  async function run(): Promise<void> {
    let nextMs: number | undefined
    do {
      isAsked = false
      nextMs = await work(signal).catch((error: unknown) => void onError(error))
    } while (isAsked && !signal.aborted)
    // In the same moment as the check: a wake after it begins a new run.
    running = undefined
    start(nextMs)
  }

  const begin = (): void => {
    running ??= run()
  }
  const start = (afterMs = everyMs): void => {
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(begin, afterMs).unref()
  }
  return {
    start,
    wake: (): void => {
      isAsked = true
      if (!signal.aborted) begin()
    },
    end: async (): Promise<void> => {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** Starts `work`, first after `firstMs`; the returned function ends it. */
export function schedule(
  work: (signal: AbortSignal) => Promise<unknown>,
  { firstMs, ...times }: Times & { firstMs?: number },
): () => Promise<void> {
  const { start, end } = createSchedule((signal) => work(signal).then(() => undefined), times)
  start(firstMs)
  return end
}
