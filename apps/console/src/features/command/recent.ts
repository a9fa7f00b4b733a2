import { readStored, writeStored } from '../../lib/browser/stored.ts'
import { base } from '../../lib/navigation/base.ts'
import type { Command } from './commands.ts'

const max = 5
const keyOf = (ownerId: string) => `keyward-recent-${ownerId}`
const found = ['Apps', 'Licenses', 'End users', 'Resellers']

/** What this vendor found and opened in this browser, newest first. */
export function recentCommands(ownerId: string): Command[] {
  try {
    const stored: Command[] = JSON.parse(readStored(keyOf(ownerId)) ?? '[]')
    return stored.filter(({ to }) => to?.startsWith(`${base}/`)).slice(0, max)
  } catch {
    return []
  }
}

export function rememberCommand(ownerId: string, { id, group, label, detail, icon, to }: Command) {
  const isRecent = group === 'Recent'
  if (!to || !(isRecent || found.includes(group))) return
  const entry = { id: isRecent ? id : `recent-${id}`, group: 'Recent', label, detail, icon, to }
  const others = recentCommands(ownerId).filter((other) => other.id !== entry.id)
  writeStored(keyOf(ownerId), JSON.stringify([entry, ...others].slice(0, max)))
}

/** The next person at this computer does not see them. */
export const forgetRecent = (ownerId: string) => writeStored(keyOf(ownerId), null)
