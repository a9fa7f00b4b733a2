import { type JsonElement, own, readJsonLists, restOfDocument } from '@keyward/contract/imported-files'
import { UnreadableFiles } from '../rows.ts'
import { isFlagged, textOf } from './values.ts'

/** A record of a file, before files are joined. Fields that no row needs, such as the app's secret, are not kept. */
export interface Entry {
  file: string
  line: number
  problem?: string
}

export interface KeyEntry extends Entry {
  key: unknown
  level: unknown
  /** In days in an export and in the text form, in seconds in an answer of the seller API. */
  days?: unknown
  seconds?: unknown
  status?: unknown
  banned?: unknown
  usedBy?: unknown
  usedOn?: unknown
  note?: unknown
}

export interface UserEntry extends Entry {
  username: unknown
  email?: unknown
  password?: unknown
  hwid?: unknown
  banned?: unknown
  /** Whether the file can hold passwords. */
  full: boolean
}

export interface SubscriptionEntry extends Entry {
  user: unknown
  /** Unix seconds, or the seconds left of a paused one. */
  expiry?: unknown
  /** The days left, in the text form. */
  days?: unknown
  paused: boolean
}

export interface KeyAuthEntries {
  keys: KeyEntry[]
  users: UserEntry[]
  subscriptions: SubscriptionEntry[]
  /** Names of subscriptions by their levels. */
  levels: Map<string, string>
  /** Files that hold users or whole lists of keys, which say which keys are used. */
  hasUsers: boolean
  hasStatus: boolean
}

// Files of 64 MiB hold millions of tiny entries, which would fill the memory.
const [linesMost, levelsMost, subscriptionsMost] = [1000, 10_000, 1_000_000]

export const noEntries = (): KeyAuthEntries => ({
  keys: [],
  users: [],
  subscriptions: [],
  levels: new Map(),
  hasUsers: false,
  hasStatus: false,
})

/** Lists of KeyAuth's files that hold neither licenses nor end users. */
const otherLists = new Set([
  ...['logs', 'auditLog', 'vars', 'blacklists', 'sessions', 'chats', 'files', 'messages', 'webhooks'],
  ...['uservars', 'buttons', 'resellers'],
])

/** Adds what a file holds; false if it is none of KeyAuth's. */
export function addKeyAuthFile(
  entries: KeyAuthEntries,
  file: string,
  text: string,
  rowsMax: number,
): boolean {
  const start = text.slice(0, 1000).replace(/^[\s\uFEFF]+/, '')
  if (start.startsWith('[') || start.startsWith('{')) return addJson(entries, file, text, rowsMax)
  return addText(entries, file, text, rowsMax)
}

function addJson(entries: KeyAuthEntries, file: string, text: string, rowsMax: number): boolean {
  let [found, document] = [false, 0]
  let lines: { element: JsonElement; at: number }[] = []
  for (const element of readJsonLists(text)) {
    if (entries.keys.length + entries.users.length > rowsMax) return found
    if (element.document !== document) {
      document = element.document
      lines = []
    }
    const { list, value, place, problem } = element
    const at = { file, line: place, ...(problem === undefined ? {} : { problem }) }
    if (list === restOfDocument) {
      const username = own(value, 'username')
      if (username !== undefined && (lines.length > 0 || own(value, 'success') !== undefined)) {
        found = true
        entries.hasUsers = true
        addUser(entries, { file, line: document }, value)
        for (const line of lines)
          addSubscription(entries, { file, line: line.at }, line.element.value, username)
      }
      if (own(value, 'success') !== undefined) found = true
      if (element.emptyLists?.includes('users')) {
        found = true
        entries.hasUsers = true
      }
    } else if (list === 'subscriptions') {
      if (lines.length < linesMost) lines.push({ element, at: place })
    } else if (list === 'users' && (problem !== undefined || own(value, 'username') !== undefined)) {
      found = true
      entries.hasUsers = true
      addUser(entries, at, value)
    } else if (list === 'subscription') {
      found = true
      addSubscription(entries, at, value, own(value, 'user'))
    } else if (list === 'subs') {
      found = true
      const [level, name] = [textOf(own(value, 'level')), textOf(own(value, 'name'))]
      if (level !== undefined && name !== undefined && entries.levels.size < levelsMost)
        entries.levels.set(level, name)
    } else if (list === 'keys' || (list === '' && own(value, 'key') !== undefined)) {
      if (list === '' && own(value, 'level') === undefined && own(value, 'expiry') === undefined) continue
      found = true
      addKey(entries, at, value)
    } else if (list === '' && problem !== undefined)
      entries.keys.push({ ...at, key: undefined, level: undefined })
    else if (otherLists.has(list)) found = true
  }
  return found
}

function addKey(entries: KeyAuthEntries, at: Entry, value: unknown): void {
  const status = own(value, 'status')
  if (status !== undefined) entries.hasStatus = true
  entries.keys.push({
    ...at,
    key: own(value, 'key'),
    level: own(value, 'level'),
    ...(own(value, 'expires') === undefined
      ? { days: own(value, 'expiry') ?? own(value, 'duration') }
      : { seconds: own(value, 'expires') }),
    status,
    banned: own(value, 'banned'),
    usedBy: own(value, 'usedby') ?? own(value, 'usedBy'),
    usedOn: own(value, 'usedon') ?? own(value, 'usedOn'),
    note: own(value, 'note'),
  })
}

const addUser = (entries: KeyAuthEntries, at: Entry, value: unknown) =>
  entries.users.push({
    ...at,
    username: own(value, 'username'),
    email: own(value, 'email'),
    password: own(value, 'password'),
    hwid: own(value, 'hwid'),
    banned: own(value, 'banned'),
    full: own(value, 'password') !== undefined,
  })

function addSubscription(entries: KeyAuthEntries, at: Entry, value: unknown, user: unknown): void {
  if (textOf(user) === undefined) return
  if (entries.subscriptions.length >= subscriptionsMost)
    throw new UnreadableFiles(`The files have more than ${subscriptionsMost} subscriptions`)
  const [expiry, paused] = [own(value, 'expiry'), isFlagged(own(value, 'paused'))]
  entries.subscriptions.push({ ...at, user, expiry, paused })
}

/** `key,level,days|…` or `username,hwid,days|…`, in one line or in several. */
function addText(entries: KeyAuthEntries, file: string, text: string, rowsMax: number): boolean {
  const from = text.charCodeAt(0) === 0xfeff ? 1 : 0
  const form = formOfText(text.slice(from, 20_000))
  if (!form) return false
  if (form === 'users') entries.hasUsers = true
  let [at, line] = [from, 0]
  while (at < text.length) {
    const { end, piece } = nextPiece(text, at)
    at = end + 1
    if (piece === '') continue
    line += 1
    if (line > rowsMax + 1) return true
    const parts = piece.length > 2000 ? [] : piece.split(',')
    const origin = { file, line }
    if (parts.length < 3) {
      const entry = { ...origin, problem: 'The entry does not have three parts' }
      if (form === 'keys') entries.keys.push({ ...entry, key: undefined, level: undefined })
      else entries.users.push({ ...entry, username: undefined, full: false })
      continue
    }
    const last = parts.at(-1)
    if (form === 'keys') {
      entries.keys.push({ ...origin, key: parts[0], level: parts[1], days: last })
      continue
    }
    // A hardware id may hold a comma, a name may not.
    entries.users.push({ ...origin, username: parts[0], hwid: parts.slice(1, -1).join(','), full: false })
    entries.subscriptions.push({ ...origin, user: parts[0], days: last, paused: false })
  }
  return line > 0
}

function nextPiece(text: string, start: number): { end: number; piece: string } {
  let end = start
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    if (code === 124 || code === 10 || code === 13) break
  }
  return { end, piece: text.slice(start, Math.min(end, start + 5000)).trim() }
}

/** Which of the two forms the first entries have; undefined if neither. */
function formOfText(start: string): 'keys' | 'users' | undefined {
  const pieces = start
    .split(/[|\r\n]+/)
    .map((piece) => piece.trim())
    .filter(Boolean)
    .slice(0, 20)
  // The last entry can be cut off.
  const whole = pieces.length > 1 && start.length >= 19_000 ? pieces.slice(0, -1) : pieces
  if (whole.length === 0) return undefined
  const split = whole
    .map((piece) => piece.split(','))
    .filter((parts) => parts.length >= 3 && /^\s*-?[\d.]+\s*$/.test(parts.at(-1) ?? ''))
  // A broken entry among others is reported as a row.
  if (split.length === 0 || split.length * 2 < whole.length) return undefined
  return split.every((parts) => parts.length === 3 && /^\s*\d{1,4}\s*$/.test(parts[1] ?? ''))
    ? 'keys'
    : 'users'
}
