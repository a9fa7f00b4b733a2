import type { MessageKey } from '@keyward/contract'
import { sameDigest, sha256 } from '../../core/crypto.ts'

interface AppGate {
  platform_paused: 0 | 1
  app_paused: 0 | 1
}

/** Why no program of this app gets in, whatever it brings. */
export function appVerdict(app: AppGate): MessageKey | undefined {
  if (app.platform_paused === 1) return 'appDisabled'
  if (app.app_paused === 1) return 'pausedApp'
  return undefined
}

export interface UserGate {
  userBanned: boolean
  keyBanned: boolean
  expiresAt: number
  /** The hash of the bound hardware id; null when none is bound. */
  boundHwid: string | null
}

export interface Presented {
  /** Whether the platform's and the app's hardware lock are both on. */
  lockOn: boolean
  /** The hash of the hardware id that the program brought; null when it brought none. */
  hwid: string | null
}

/** Why an end user or a key is refused; the order is the order in which reasons are told. */
export function userVerdict(user: UserGate, presented: Presented, now: number): MessageKey | undefined {
  if (user.userBanned) return 'userBanned'
  if (user.keyBanned) return 'keyBanned'
  if (user.expiresAt <= now) return 'noActiveSubs'
  if (presented.lockOn && !passesLock(user.boundHwid, presented.hwid)) return 'hwidMismatch'
  return undefined
}

/** A bound lock is passed by the whole same id alone, never by none. */
const passesLock = (bound: string | null, hwid: string | null): boolean =>
  bound === null || (hwid !== null && sameDigest(bound, hwid))

/** Whether a hardware id is the one that is bound; none never is. */
export const isBoundTo = (bound: string | null, hwid: string | undefined): boolean =>
  bound !== null && !!hwid && sameDigest(bound, sha256(hwid))

/** Whether the app's version is newer than the program's; a version that cannot be read counts as older. */
export function isOlder(program: string, app: string): boolean {
  const [mine, newest] = [parse(program), parse(app)]
  if (!mine || !newest) return program !== app
  const difference = newest.map((part, at) => part - (mine[at] ?? 0)).find((part) => part !== 0)
  return (difference ?? 0) > 0
}

const parse = (version: string): number[] | undefined =>
  /^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(version) ? version.split('.').map(Number) : undefined
