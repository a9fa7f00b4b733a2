import { isDeepStrictEqual } from 'node:util'

type Values = Record<string, unknown>

/**
 * Whether a value that the caller saw has changed since. A value that already is as wanted did not change: a caller that
 * got no response sends the same edit again.
 */
export const hasChanged = (now: Values, seen: Values, wanted: Values): boolean =>
  Object.entries(seen).some(
    ([name, value]) =>
      value !== undefined &&
      !isDeepStrictEqual(value, now[name]) &&
      (wanted[name] === undefined || !isDeepStrictEqual(wanted[name], now[name])),
  )
