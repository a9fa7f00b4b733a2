import { KeywardNetworkError } from './errors.ts'
import type { Delivered } from './transport.ts'
import type { Granted, Refused } from './types.ts'

/** The result of a call that the server granted; `required` must be an object in its data. */
export function granted<Data>(outcome: Delivered, required?: keyof Data & string): Granted<Data> {
  const { data, message } = outcome
  if (required !== undefined && (typeof data[required] !== 'object' || data[required] === null)) {
    throw unexpected(required)
  }
  // `ok` last: no field of a response may override the verdict.
  return { ...(data as Data), ...(message === undefined ? {} : { message }), ok: true }
}

export function unexpected(what: string): KeywardNetworkError {
  return new KeywardNetworkError('unexpected_answer', `The answer to ${what} is incomplete`, {
    outcomeUnknown: true,
  })
}

/** The result of a sign-in or `session` that was granted only after the user had signed out. */
export const overtaken = (): Refused => ({
  ok: false,
  code: 'sessionUnauthed',
  message: 'The user signed out before this call was finished',
})
