/** Listeners of a value outside of React; `subscribe` fits `useSyncExternalStore`. */
export function createListeners<Args extends unknown[] = []>() {
  const listeners = new Set<(...args: Args) => void>()
  return {
    subscribe(listener: (...args: Args) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    notify(...args: Args) {
      for (const listener of listeners) listener(...args)
    },
  }
}
