import type { Client } from '@keyward/contract'
import { offlineSentence } from '../../lib/format/offline.ts'

/** A warning in dialogs that take something away; nothing if it takes effect at once. */
export function OfflineNote({ users }: { users: readonly Client[] }) {
  const sentence = offlineSentence(users)
  if (sentence === undefined) return null
  return (
    <p className="rounded-lg border border-warning-line bg-warning-soft px-3 py-2.5 text-warning-text">
      {sentence}
    </p>
  )
}
