import { KeywardUsageError } from './errors.ts'
import type { Artifact, Update } from './types.ts'

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

/** The file of an update, which must be one that can be downloaded and stored under its name. */
export function toArtifact(update: Update): Artifact {
  const { artifact } = update ?? {}
  const isFile =
    typeof artifact === 'object' &&
    artifact !== null &&
    /^[0-9a-f]{128}$/.test(artifact.sha512) &&
    Number.isSafeInteger(artifact.size) &&
    artifact.size > 0 &&
    isFileName(artifact.name) &&
    isSafeAddress(artifact.url)
  if (isFile) return artifact
  throw new KeywardUsageError('invalid_argument', 'The update has no file that can be downloaded')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: no file has them in its name
const isFileName = (name: unknown) => typeof name === 'string' && /^(?!\.+$)[^/\\:\u0000-\u001f]+$/.test(name)

/** Encrypted, or of this machine. */
export function isSafeAddress(address: string): boolean {
  try {
    const { protocol, hostname } = new URL(address)
    const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
    return protocol === 'https:' || (protocol === 'http:' && isLocal)
  } catch {
    return false
  }
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
