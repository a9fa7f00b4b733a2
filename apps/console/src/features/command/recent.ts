import { readStored, writeStored } from '../../lib/browser/stored.ts'
import { base } from '../../lib/navigation/base.ts'
import type { Command } from './commands.ts'

const max = 5
const keyOf = (place: string) => `keyward-recent-${place}`
const found = ['Apps', 'Licenses', 'End users', 'Resellers']

/** What this person found and opened in this browser, newest first. */
export function recentCommands(place: string): Command[] {
  try {
    const stored: Command[] = JSON.parse(readStored(keyOf(place)) ?? '[]')
    return stored.filter(({ to }) => to?.startsWith(`${base}/`)).slice(0, max)
  } catch {
    return []
  }
}

export function rememberCommand(place: string, { id, group, label, detail, icon, to }: Command) {
  const isRecent = group === 'Recent'
  if (!to || !(isRecent || found.includes(group))) return
  const entry = { id: isRecent ? id : `recent-${id}`, group: 'Recent', label, detail, icon, to }
  const others = recentCommands(place).filter((other) => other.id !== entry.id)
  writeStored(keyOf(place), JSON.stringify([entry, ...others].slice(0, max)))
}

/** The next person at this computer does not see them. */
export const forgetRecent = (place: string) => writeStored(keyOf(place), null)
