import { type ErrorCode, errorCodes, errorFacts, type Needed, permissionsNamed } from '@keyward/contract'

/** Why a tool did nothing, in a sentence that contains no text of customers. */
export class ToolError extends Error {}

const known = new Set<string>(errorCodes)

interface Refusal {
  status: number
  code: unknown
  /** The fields that the server rejects. */
  paths: readonly string[]
  retryAfter: string | null
  needed: Needed | undefined
}

/** The refusal of a call, by its code alone: the message of the server may quote what customers typed. */
export function toToolError({ status, code, paths, retryAfter, needed }: Refusal): ToolError {
  if (code === 'permission_missing')
    return new ToolError(`The API key lacks the permission ${namesOf(needed)}.`)
  if (code === 'not_found')
    return new ToolError('There is no such object, or it belongs to an app that the API key may not access.')
  if (code === 'unauthorized')
    return new ToolError('The server does not accept the API key: it is unknown, expired or revoked.')
  const text = typeof code === 'string' && known.has(code) ? errorFacts(code as ErrorCode).message : undefined
  const sentence = text === undefined ? `The server answered with the status ${status}` : withoutDot(text)
  const fields = paths.filter((path) => /^[\w.]{1,64}$/.test(path)).slice(0, 10)
  const which = fields.length > 0 ? `: ${fields.join(', ')}` : ''
  const wait = /^\d{1,6}$/.test(retryAfter ?? '') ? ` Try again in ${retryAfter} seconds.` : ''
  return new ToolError(`${sentence}${which}.${wait}`)
}

/** The first of alternatives is enough for all that the call does. */
const namesOf = (needed: Needed | undefined): string => {
  const [first = '', ...others] = needed === undefined ? [] : permissionsNamed(needed)
  return typeof needed === 'object' && 'anyOf' in needed ? first : [first, ...others].join(' and ')
}

const withoutDot = (sentence: string): string => sentence.replace(/\.$/, '')
