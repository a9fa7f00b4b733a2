import type { Client } from '@keyward/contract'
import { formatDate } from '../../lib/format/dates.ts'
import { amountOf } from '../../lib/format/words.ts'

/** Until when programs of these end users can run without a connection, as a sentence; undefined if none can. */
export function offlineSentence(users: readonly Pick<Client, 'offline' | 'username'>[]): string | undefined {
  const running = users.flatMap(({ offline }) => offline ?? [])
  if (running.length === 0) return undefined
  const who =
    users.length === 1
      ? `A program of ${users[0]?.username}`
      : `Programs of ${amountOf(running.length, 'of them', 'of them')}`
  const endless = running.filter(({ until }) => until === null).length
  if (endless > 0) {
    const rest = running.length > endless ? `, ${endless} of them with no end` : ' with no end'
    return `${who} can go on running without a connection${rest}: a file that never ends was made.`
  }
  const last = Math.max(...running.map(({ until }) => Date.parse(until ?? '')))
  return `${who} can go on running without a connection until ${formatDate(last)} at the latest.`
}

/** A warning in dialogs that take something away; nothing if it takes effect at once. */
export function OfflineNote({ users }: { users: readonly Pick<Client, 'offline' | 'username'>[] }) {
  const sentence = offlineSentence(users)
  if (sentence === undefined) return null
  return (
    <p className="rounded-lg border border-warning-line bg-warning-soft px-3 py-2.5 text-warning-text">
      {sentence}
    </p>
  )
}
