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
