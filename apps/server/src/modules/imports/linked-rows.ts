import { limits } from '@keyward/contract/constants'
import { normalizeKey, normalizeName, toTyped } from '../../core/ids.ts'
import type { ImportedLicense, ImportedRow, ImportedUser } from './rows.ts'

/** A row as it is stored before it is applied: rows of one unit are created together, an end user before its licenses. */
export interface LinkedRow {
  unit: number
  file: string
  line: number
  kind: 'license' | 'client'
  name: string
  /** Null if nothing becomes of it. */
  content: string | null
  outcome: 'skipped' | 'failed' | null
  message: string | null
}

/** Keys of one end user; each is an object of one transaction. */
const keysMost = 50

const typedKey = (key: string): string => toTyped(normalizeKey(key))

const isUsable = (row: ImportedRow): boolean => row.problem === undefined && row.skip === undefined

/** A license of a list of Keyward, whose key is generated. */
const hasNoKey = (row: ImportedRow): boolean =>
  row.kind === 'license' && row.key === '' && row.cells !== undefined

/** Puts the licenses of each end user behind it, and leaves out what comes twice. */
export function linkRows(rows: readonly ImportedRow[]): LinkedRow[] {
  const users = new Map<string, ImportedUser>()
  const licenses = new Map<string, ImportedLicense>()
  const twice = new Map<ImportedRow, string>()
  for (const row of rows) {
    if (!isUsable(row) || hasNoKey(row)) continue
    const name = row.kind === 'user' ? normalizeName(row.username) : typedKey(row.key)
    const seen: Map<string, ImportedRow> = row.kind === 'user' ? users : licenses
    if (!seen.has(name)) seen.set(name, row)
    else if (row.kind === 'user') twice.set(row, 'An earlier row has the same username')
    else twice.set(row, 'An earlier row has the same key, or one that reads the same')
  }
  const owners = ownersOf(rows, { users, licenses, twice })
  const ofUser = Map.groupBy(owners, ([, user]) => user)
  const linked: LinkedRow[] = []
  let unit = 0
  for (const row of rows) {
    if (row.kind === 'license' && owners.has(row)) continue
    unit += 1
    linked.push(toLinked(row, unit, twice.get(row)))
    if (row.kind === 'license') continue
    const keys = (ofUser.get(row) ?? []).map(([license]) => license)
    for (const [at, license] of keys.entries()) {
      const message = at < keysMost ? undefined : `An end user can have at most ${keysMost} imported keys`
      linked.push(toLinked(license, unit, message))
    }
  }
  return linked
}

interface Known {
  users: ReadonlyMap<string, ImportedUser>
  licenses: ReadonlyMap<string, ImportedLicense>
  twice: ReadonlyMap<ImportedRow, string>
}

/** The end user of each license: the one it was created for, one that lists it, or one that it names. */
function ownersOf(rows: readonly ImportedRow[], { users, licenses, twice }: Known) {
  const owners = new Map<ImportedLicense, ImportedUser>()
  const give = (key: string, user: ImportedUser): void => {
    const license = licenses.get(typedKey(key))
    if (license && !owners.has(license)) owners.set(license, user)
  }
  const found = rows.filter((row) => isUsable(row) && !twice.has(row))
  const foundUsers = found.filter((row) => row.kind === 'user')
  for (const user of foundUsers) give(user.username, user)
  for (const user of foundUsers) for (const key of user.keys ?? []) give(key, user)
  for (const license of found) {
    if (license.kind !== 'license' || license.usedBy === undefined) continue
    const user = users.get(normalizeName(license.usedBy))
    if (user && !owners.has(license)) owners.set(license, user)
  }
  return owners
}

function toLinked(row: ImportedRow, unit: number, refusal: string | undefined): LinkedRow {
  const { file, line, problem, skip, ...content } = row
  const name = row.kind === 'user' ? row.username : row.key
  const wrong = problem ?? (hasNoKey(row) ? undefined : wrongName(row.kind, name))
  const outcome = wrong !== undefined ? 'failed' : (skip ?? refusal) !== undefined ? 'skipped' : null
  return {
    unit,
    file,
    line,
    kind: row.kind === 'user' ? 'client' : 'license',
    name: name
      .replace(/\p{Cc}/gu, ' ')
      .slice(0, limits.importedKeyMax)
      .toWellFormed(),
    content: outcome === null ? JSON.stringify(content) : null,
    outcome,
    message: wrong ?? skip ?? refusal ?? null,
  }
}

const noun = { user: 'A username', license: 'A key' } as const
const longest = { user: limits.importedNameMax, license: limits.importedKeyMax } as const

function wrongName(kind: keyof typeof noun, name: string): string | undefined {
  if (name.length > longest[kind]) return `${noun[kind]} can have at most ${longest[kind]} characters`
  if (/\p{Cc}|\p{Cs}/u.test(name)) return `${noun[kind]} contains characters that are not allowed`
  const normalized = kind === 'user' ? normalizeName(name) : normalizeKey(name)
  return normalized === '' ? `${noun[kind]} is missing` : undefined
}
