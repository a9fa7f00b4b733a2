import { createHash } from 'node:crypto'
import {
  type MessageKey,
  normalizeCrockford,
  type OfflineActivationStatus,
  type OfflineRequest,
  readOfflineRequest,
  toCrockford,
} from '@keyward/contract'
import { sha256 } from '../../core/crypto.ts'
import { invalid } from '../../core/problem.ts'
import type { OfflineActivationRow } from '../../db/tables.ts'

/** Reads a request for an app; rejects a mistyped one and one for another app. */
export function toRequest(appId: string, text: string): OfflineRequest {
  const normalized = normalizeCrockford(text)
  if (normalized.startsWith('KWD1')) {
    throw invalid('request', 'This is a deactivation code. Enter it under Deactivate with code.')
  }
  const request = readOfflineRequest(text)
  const check = request && createHash('sha256').update(appId).update(request.body).digest().subarray(0, 4)
  if (!request || !check?.equals(request.check)) {
    throw invalid('request', 'The request is mistyped or incomplete, or made for another app')
  }
  return request
}

/** What identifies a request; repeating it repeats its activation. */
export const requestHash = ({ body }: OfflineRequest): string =>
  createHash('sha256').update(body).digest('hex')

const codePattern = /^KWD1[0-9A-HJKMNP-TV-Z]{16}$/
const codeBytes = 10

/** A deactivation code from a keyed hash. */
export function toCode(digest: string): string {
  const symbols = toCrockford(Buffer.from(digest, 'hex').subarray(0, codeBytes))
  return `KWD1-${symbols.match(/.{4}/g)?.join('-')}`
}

/** The hash of a code as people type it; rejects any other text. */
export function toCodeHash(text: string): string {
  const code = normalizeCrockford(text)
  if (code.startsWith('KWR1')) throw invalid('code', 'This is an activation request, not a deactivation code')
  if (!codePattern.test(code)) throw invalid('code', 'The code is mistyped or incomplete')
  return sha256(code)
}

export function statusOf(
  row: Pick<OfflineActivationRow, 'ended_by' | 'device_id' | 'until'>,
  now: number,
): OfflineActivationStatus {
  if (row.ended_by === 'code') return 'deactivated'
  if (row.until <= now) return 'ended'
  if (row.ended_by === 'replaced') return 'replaced'
  return row.device_id === null ? 'freed' : 'active'
}

/** Why a machine cannot be activated, for the owner: the texts of the app are for its end users. */
const refusalTexts: Partial<Record<MessageKey, string>> = {
  appDisabled: 'All your applications are paused',
  pausedApp: 'The application is paused',
  keyNotFound: 'The application has no such license key',
  keyUsed: 'The key extended an end user who has another key: the request must name that one',
  usernameTaken: 'An end user with the name of this key exists already',
  usernameNotFound: 'The end user was deleted meanwhile',
  userBanned: 'The end user is banned',
  keyBanned: 'The license is banned, or it is of a test order, which the app does not accept',
  pausedSub: 'The end user is paused',
  noActiveSubs: 'The license has ended',
  hwidBlacklisted: 'The machine is on the block list',
  hwidMismatch: 'All devices of the license are taken: free one first',
}

export const refusalText = (code: MessageKey): string | undefined => refusalTexts[code]
