import { toFolded } from '../../../core/ids.ts'
import type { ImportedEnd, ImportedLicense, ImportedUser } from '../rows.ts'
import type { Collector } from './collector.ts'
import type { Entry, KeyAuthEntries, KeyEntry, SubscriptionEntry, UserEntry } from './keyauth-files.ts'
import {
  banOf,
  daysOf,
  hardwareIds,
  isSha1,
  type Lasting,
  numberOf,
  passwordForm,
  secondsOf,
  textOf,
} from './values.ts'

/** What is less is the time left of a paused subscription, which has no other mark. */
const firstDate = 1_000_000_000
const longMs = 5 * 365 * 86_400_000

/** Joins the files of one app: subscriptions belong to users, and a key with the name of a user is used. */
export function joinKeyAuth(entries: KeyAuthEntries, to: Collector, now: number): void {
  const subscriptions = bySubscriber(entries.subscriptions)
  const keysByName = new Map<string, string>()
  const usersByName = new Map<string, string>()
  for (const { username } of entries.users) {
    const name = textOf(username)
    if (name !== undefined && !usersByName.has(toFolded(name))) usersByName.set(toFolded(name), name)
  }
  const keys = mergeKeys(entries.keys)
  for (const { key, usedBy } of keys) {
    const [text, user] = [textOf(key), textOf(usedBy)]
    if (text === undefined) continue
    const holder = usersByName.get(toFolded(user ?? text)) ?? usersByName.get(toFolded(text))
    if (holder !== undefined && !keysByName.has(toFolded(holder))) keysByName.set(toFolded(holder), text)
  }
  for (const entry of entries.users) {
    const folded = toFolded(textOf(entry.username) ?? '')
    to.addUser(toUser(entry, subscriptions.get(folded) ?? [], keysByName.get(folded), { entries, to, now }))
  }
  for (const entry of keys) addKey(entry, { entries, to, usersByName })
}

function bySubscriber(lines: readonly SubscriptionEntry[]): Map<string, SubscriptionEntry[]> {
  const found = new Map<string, SubscriptionEntry[]>()
  for (const line of lines) {
    const user = textOf(line.user)
    if (user === undefined) continue
    const mine = found.get(toFolded(user))
    if (!mine) found.set(toFolded(user), [line])
    // The first thousand tell enough of a file that repeats a name for ever.
    else if (mine.length < 1000) mine.push(line)
  }
  return found
}

/** The entries of each key: one of a list with statuses replaces one without. */
function mergeKeys(entries: readonly KeyEntry[]): KeyEntry[] {
  const byKey = new Map<string, number>()
  const merged: KeyEntry[] = []
  for (const entry of entries) {
    const key = textOf(entry.key)
    const known = key === undefined ? undefined : byKey.get(key)
    const before = known === undefined ? undefined : merged[known]
    if (known !== undefined && before && (before.status === undefined) !== (entry.status === undefined)) {
      if (before.status === undefined) merged[known] = entry
      continue
    }
    if (key !== undefined && known === undefined) byKey.set(key, merged.length)
    merged.push(entry)
  }
  return merged
}

const originOf = ({ file, line, problem }: Entry) => ({
  file,
  line,
  ...(problem === undefined ? {} : { problem }),
})

interface Reading {
  entries: KeyAuthEntries
  to: Collector
  now: number
}

function toUser(
  entry: UserEntry,
  lines: readonly SubscriptionEntry[],
  key: string | undefined,
  reading: Reading,
): ImportedUser {
  const hints: string[] = []
  const row: ImportedUser = { ...originOf(entry), kind: 'user', username: textOf(entry.username) ?? '' }
  if (row.problem !== undefined || row.username === '') return row
  const form = passwordForm(entry.password)
  if (form === 'bcrypt') row.passwordHash = textOf(entry.password) ?? ''
  if (form === 'other') hints.push('Its password is stored in a form that cannot be taken along.')
  const email = textOf(entry.email)
  if (email !== undefined && isSha1(email)) row.emailSha1 = email.toLowerCase()
  else if (email?.includes('@')) row.email = email
  const { ids, glued } = hardwareIds(entry.hwid)
  if (glued) row.gluedDevices = ids[0] ?? ''
  else if (ids.length > 0) row.devices = ids
  const ban = banOf(entry.banned)
  if (ban) row.banReason = ban.reason ?? ''
  if (key !== undefined) row.keys = [key]
  const counted = lines.length > 1 ? `The latest of ${lines.length} subscriptions is taken.` : undefined
  if (counted !== undefined) hints.push(counted)
  const time = timeOf(entry, lines, reading)
  return { ...row, ...time, ...(hints.length > 0 ? { hint: hints.join(' ') } : {}) }
}

function timeOf(
  entry: UserEntry,
  lines: readonly SubscriptionEntry[],
  { entries, to, now }: Reading,
): Pick<ImportedUser, 'end' | 'pausedSeconds'> {
  const [dates, pauses, lefts]: [number[], number[], Lasting[]] = [[], [], []]
  for (const line of lines) {
    const seconds = numberOf(line.expiry)
    const days = daysOf(line.days)
    if (days !== undefined) lefts.push(days)
    else if (seconds === undefined || seconds <= 0) continue
    else if (line.paused && seconds >= firstDate) pauses.push(Math.max(1, seconds - now / 1000))
    else if (seconds < firstDate) pauses.push(seconds)
    else dates.push(seconds > 100 * firstDate ? seconds : seconds * 1000)
  }
  const latest = dates.reduce((most, date) => Math.max(most, date), 0)
  const paused = pauses.reduce((most, left) => Math.max(most, left), 0)
  if (lefts.includes('never')) return { end: 'never' }
  const left = lefts.reduce<number>((most, days) => Math.max(most, Number(days)), 0)
  if (left > 0) return { end: { seconds: Math.round(left / 1000) } }
  if (paused > 0 && latest <= now) return { pausedSeconds: Math.max(1, Math.round(paused)) }
  if (latest > now + longMs && to.ask('longEnds') === 'never') return { end: 'never' }
  if (latest > 0) return { end: { at: Math.floor(latest) } }
  if (
    lines.length === 0 &&
    entry.full &&
    entries.subscriptions.length === 0 &&
    to.ask('usersWithoutEnd') === 'never'
  )
    return { end: 'never' }
  return { end: { at: now } }
}

function addKey(
  entry: KeyEntry,
  { entries, to, usersByName }: { entries: KeyAuthEntries; to: Collector; usersByName: Map<string, string> },
): void {
  const key = textOf(entry.key) ?? ''
  const row: ImportedLicense = { ...originOf(entry), kind: 'license', key, status: 'unused' }
  if (row.problem !== undefined || key === '') {
    to.addLicense(row)
    return
  }
  const level = textOf(entry.level)
  const type =
    level === undefined ? undefined : (entries.levels.get(level) ?? (level === '1' ? undefined : level))
  if (type !== undefined) row.type = type.slice(0, 64)
  const note = textOf(entry.note)
  if (note !== undefined && note !== 'N/A') row.note = note
  const lasts = entry.seconds === undefined ? daysOf(entry.days) : secondsOf(entry.seconds)
  if (lasts === undefined) {
    to.addLicense({ ...row, problem: 'Its duration is not a number above 0' })
    return
  }
  const status = textOf(entry.status)?.toLowerCase()
  const holder = usersByName.get(toFolded(textOf(entry.usedBy) ?? key)) ?? usersByName.get(toFolded(key))
  const ban = banOf(entry.banned)
  const banned = status === 'banned' || ban !== null
  const used = holder !== undefined || status === 'used' || (banned && numberOf(entry.usedOn) !== undefined)
  row.end = used ? endOfUsed(lasts, entry) : toEnd(lasts)
  if (holder !== undefined) row.usedBy = holder
  if (banned) to.addLicense({ ...row, status: 'banned', banReason: ban?.reason ?? '' })
  else if (holder !== undefined) to.addLicense({ ...row, status: 'used' })
  else if (status === 'used')
    to.addLicense({ ...row, status: 'used', skip: 'Used by an end user who is not in the files' })
  else if (status === 'not used') to.addLicense(row)
  else if (to.ask('keysWithoutStatus') === 'unused') to.addLicense(row)
  else to.addLicense({ ...row, skip: 'The files do not say whether it is used' })
}

const toEnd = (lasts: Lasting): ImportedEnd =>
  lasts === 'never' ? 'never' : { seconds: Math.max(1, Math.round(lasts / 1000)) }

function endOfUsed(lasts: Lasting, { usedOn }: KeyEntry): ImportedEnd {
  const since = numberOf(usedOn)
  if (lasts === 'never' || since === undefined || since < firstDate || since > 100 * firstDate)
    return toEnd(lasts)
  return { at: Math.floor(since * 1000 + lasts) }
}
