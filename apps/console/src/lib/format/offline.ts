import type { Client } from '@keyward/contract'
import { formatDate } from './dates.ts'
import { knownName } from './end-user-name.ts'
import { formatNumber } from './numbers.ts'

type User = Pick<Client, 'licenseKey' | 'offline' | 'username'> & { knownAs?: string | null | undefined }

/** Until when programs of these end users can run without a connection, as a sentence; undefined if none can. */
export function offlineSentence(users: readonly User[]): string | undefined {
  const running = users.flatMap(({ offline }) => offline ?? [])
  const ends = running.flatMap(({ until }) => until ?? [])
  if (running.length === 0) return undefined
  const subject =
    users[0] && users.length === 1
      ? `A program of ${knownName(users[0]) ?? 'the end user'}`
      : running.length === 1
        ? 'A program of one of them'
        : `Programs of ${formatNumber(running.length)} of them`
  const endless = running.length - ends.length
  const text = `${subject} can go on running without a connection`
  if (endless === 0) return `${text} until ${formatDate(latestOf(ends))} at the latest.`
  if (ends.length === 0) return `${text} for good, because of an activation file that never ends.`
  return `${text}: ${formatNumber(endless)} for good, because of an activation file that never ends, the others until ${formatDate(latestOf(ends))} at the latest.`
}

const latestOf = (ends: readonly string[]): number => Math.max(...ends.map((end) => Date.parse(end)))
