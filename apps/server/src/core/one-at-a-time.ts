/** Work that never fails and is not started while it is still under way. */
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
