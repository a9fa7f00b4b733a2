import { KeywardUsageError } from './errors.ts'

/** Checks that the members `required` are texts. */
export function texts<T extends object, K extends keyof T & string>(
  input: T,
  required: K[],
): T & Record<K, string> {
  for (const name of required) {
    if (typeof input?.[name] !== 'string') {
      throw new KeywardUsageError('invalid_argument', `${name} must be a text`)
    }
  }
  return input as T & Record<K, string>
}

export function toKey(licenseKey: unknown): string {
  if (typeof licenseKey === 'string') return licenseKey.trim()
  throw new KeywardUsageError('invalid_argument', 'licenseKey must be a text')
}

/** One segment of a path. Addresses drop `.` and `..`, so they would name another call. */
export function toSegment(name: string, value: unknown): string {
  if (typeof value === 'string' && !['', '.', '..'].includes(value)) {
    try {
      return encodeURIComponent(value)
    } catch {
      // A lone surrogate has no UTF-8.
    }
  }
  throw new KeywardUsageError('invalid_argument', `${name} must be a text that can be part of an address`)
}
