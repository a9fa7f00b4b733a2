/** Starts `work`, which must not reject, unless it is still running. */
export function oneAtATime(work: () => Promise<void>) {
  let running: Promise<void> | undefined
  return {
    start: () => {
      running ??= work().finally(() => {
        running = undefined
      })
    },
    ended: async () => running,
  }
}

interface Schedule {
  everyMs: number
  /** When the first run begins. */
  firstMs?: number
  onError: (error: unknown) => void
}

/** Runs `work` by a schedule, one run at a time. The returned function ends it: it aborts a run, and waits for it. */
export function schedule(
  work: (signal: AbortSignal) => Promise<unknown>,
  { everyMs, firstMs = everyMs, onError }: Schedule,
): () => Promise<void> {
  const stopping = new AbortController()
  const runs = oneAtATime(() => work(stopping.signal).then(() => undefined, onError))
  let timer = setTimeout(() => {
    runs.start()
    timer = setInterval(runs.start, everyMs).unref()
  }, firstMs).unref()
  return async () => {
    clearTimeout(timer)
    stopping.abort()
    await runs.ended()
  }
}
