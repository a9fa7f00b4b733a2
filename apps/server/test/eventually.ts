import { vi } from 'vitest'

interface Limits {
  timeout?: number
  interval?: number
}

/** Repeats a check until it throws no more, and returns its result. The limit ends a test that hangs: no machine needs so long. */
export const eventually = <T>(check: () => T | Promise<T>, limits: Limits = {}): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 20, ...limits })
