import type { Offline } from './offline.ts'
import type { Call } from './transport.ts'
import type { Granted, InitData, Refused, Result, UserData } from './types.ts'

export type SessionCall = Pick<Call, 'method' | 'name' | 'body' | 'repeatable'>

/** Whether no sign-out has begun since a call. */
export type IsCurrent = () => boolean

export interface Limits {
  /** When the call ends, a time of `performance.now()`. */
  deadline: number
  isCurrent: IsCurrent
  /** The session with which the call was granted. */
  token?: string
}

/** A session that was opened, or why there is none. */
export type Opened = { result: Result<InitData>; token: string } | { result: Refused; token?: never }

export const check: SessionCall = { method: 'GET', name: 'session', repeatable: true }

export const isSignedOut = (result: Result<UserData>) => !result.ok && result.code === 'sessionUnauthed'

/** Stores the token of a remembered sign-in, which programs never see, unless the user has signed out meanwhile. */
export async function keptToken(
  offline: Offline,
  result: Granted<UserData>,
  isCurrent: IsCurrent,
): Promise<Granted<UserData>> {
  const { deviceToken, ...shown } = result as Granted<UserData> & { deviceToken?: unknown }
  if (typeof deviceToken === 'string' && isCurrent()) await offline.keepDeviceToken(deviceToken)
  return shown
}
