import { ApiError, hasCode, messageOf } from '../../lib/api/call.ts'
import { PasskeyError } from './passkeys.ts'

/** Why the server or the browser did not accept a proof, in words for its field. */
export function proofFailure(error: unknown): string {
  if (error instanceof PasskeyError) return error.message
  if (hasCode(error, 'rate_limited') && error instanceof ApiError && error.retryAfterSeconds) {
    return `Too many attempts. Please try again in ${waitText(error.retryAfterSeconds)}.`
  }
  return messageOf(error, 'This did not work. Please try again.')
}

/** The same for a passkey. */
export const passkeyFailure = (error: unknown): string =>
  hasCode(error, 'invalid_code') ? 'This passkey was not accepted.' : proofFailure(error)

function waitText(seconds: number): string {
  const [count, unit] = seconds <= 60 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
