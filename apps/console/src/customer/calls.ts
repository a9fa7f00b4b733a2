import type { BodyInputOf, DataOf, ErrorCode, endpoints } from '@keyward/contract'
import { base } from '../lib/navigation/base.ts'

export type Calls = (typeof endpoints)['customerPage']
type Name = keyof Calls

/** Methods and paths of the contract, which is too large to load here; a test compares both. */
export const calls = {
  get: ['GET', '/customer/:appId'],
  logo: ['GET', '/customer/:appId/logo/:digest'],
  login: ['POST', '/customer/:appId/login'],
  mail: ['POST', '/customer/:appId/mail'],
  me: ['GET', '/customer/me'],
  devices: ['GET', '/customer/devices'],
  freeDevice: ['DELETE', '/customer/devices/:id'],
  setPassword: ['PUT', '/customer/password'],
  activateOffline: ['POST', '/customer/offline-activations'],
  logout: ['POST', '/customer/logout'],
} as const satisfies Record<Name, readonly [method: string, path: string]>

/** An error response of the server; status 0 if there was none. */
export class CallError extends Error {
  readonly status: number
  readonly code: ErrorCode | undefined
  /** The fields that the server rejected. */
  readonly paths: string[]
  readonly retryAfterSeconds: number
  /** Why a machine was refused. */
  readonly reason: string | undefined

  constructor(response?: Response, answer?: ErrorAnswer | null) {
    super(answer?.message ?? 'No response')
    this.status = response?.status ?? 0
    this.code = answer?.code
    this.paths = answer?.errors?.map(({ path }) => path) ?? []
    this.retryAfterSeconds = Number(response?.headers.get('retry-after')) || 60
    this.reason = answer?.details?.reason
  }
}

interface ErrorAnswer {
  message?: string
  code?: ErrorCode
  errors?: { path: string }[]
  details?: { reason?: string }
}

export interface CallInput<N extends Name> {
  params?: { appId: string } | { id: string }
  query?: Record<string, string>
  body?: BodyInputOf<Calls[N]>
  token?: string | null
}

/** Calls the server and returns the `data` of its response. */
export async function call<N extends Name>(
  name: N,
  { params, query, body, token }: CallInput<N> = {},
): Promise<DataOf<Calls[N]>> {
  const [method, template] = calls[name]
  const path = template.replace(/:(\w+)/, (_, key) =>
    encodeURIComponent((params as Record<string, string> | undefined)?.[key] ?? ''),
  )
  const headers = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(token && { authorization: `Bearer ${token}` }),
  }
  const address = `${base}/api${path}${query ? `?${new URLSearchParams(query)}` : ''}`
  const response = await fetch(address, {
    method,
    headers,
    cache: 'no-store',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => undefined)
  if (!response) throw new CallError()
  const answer = await response.json().catch(() => null)
  if (!answer?.success) throw new CallError(response, answer)
  return answer.data
}
