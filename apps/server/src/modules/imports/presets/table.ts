import type { ImportField, ImportMapping } from '@keyward/contract'
import { openTable, suggestMapping, type TableRow, toFlag } from '@keyward/contract/imported-files'
import { toFolded } from '../../../core/ids.ts'
import type { ImportedEnd, ImportedLicense, ImportedUser } from '../rows.ts'
import { UnreadableFiles } from '../rows.ts'
import type { Collector } from './collector.ts'
import {
  banOf,
  type DateOrder,
  daysOf,
  forever,
  hardwareIds,
  isFlagged,
  isoDurationOf,
  isSha1,
  numberOf,
  passwordForm,
  readMoment,
} from './values.ts'

interface TableFile {
  file: string
  rows: Iterable<TableRow>
  mapping: ImportMapping
  /** Columns beside that of the status which say that a license is banned or used. */
  flags: readonly Flag[]
}

/** Reads CSV files and JSON lists by which column has which field; without a mapping by the names of columns. */
export function readTables(
  files: readonly { name: string; content: string }[],
  mapping: ImportMapping,
  to: Collector,
): void {
  const tables = files.map(({ name, content }) => open(name, content, mapping))
  for (const field of Object.keys(mapping) as ImportField[]) {
    if (!tables.some((table) => table.mapping[field] !== undefined))
      throw new UnreadableFiles(`No file has the column ${mapping[field]}`)
  }
  const users = new Set<string>()
  for (const { rows, mapping: columns } of tables) {
    const column = columns.username
    if (column === undefined) continue
    for (const { cells } of rows) if (cells.has(column)) users.add(toFolded(cells.get(column) ?? ''))
  }
  for (const table of tables) {
    for (const row of table.rows) {
      if (to.overflowed) return
      addRow(row, table, users, to)
    }
  }
}

function open(name: string, content: string, wanted: ImportMapping): TableFile {
  const table = openTable(content)
  if (!table) throw new UnreadableFiles(`${name} holds no table: no CSV lines and no JSON list`)
  const columns = new Set(table.columns)
  const mapping =
    Object.keys(wanted).length === 0
      ? suggestMapping(table.columns)
      : (Object.fromEntries(
          Object.entries(wanted).filter(([, column]) => columns.has(column)),
        ) as ImportMapping)
  if (mapping.key === undefined && mapping.username === undefined)
    throw new UnreadableFiles(`Choose which column of ${name} has the keys or the usernames`)
  const flags = table.columns.flatMap((column) => (column === mapping.status ? [] : flagOf(column)))
  return { file: name, rows: table.rows, mapping, flags }
}

type Cell = (field: ImportField) => string | undefined

function addRow(
  row: TableRow,
  { file, mapping, flags }: TableFile,
  users: ReadonlySet<string>,
  to: Collector,
): void {
  const cell: Cell = (field) => {
    const column = mapping[field]
    return column === undefined ? undefined : row.cells.get(column)
  }
  const origin = { file, line: row.line }
  const [key, username] = [cell('key'), cell('username')]
  if (row.problem !== undefined) {
    to.addProblem(origin, row.problem)
    return
  }
  if (key === undefined && username === undefined) {
    to.addProblem(origin, 'It has neither a key nor a username')
    return
  }
  const raised = flags.filter((flag) => isRaised(flag, row.cells.get(flag.column) ?? ''))
  const flagged = raised.find((flag) => flag.status === 'banned') ?? raised[0]
  const status =
    flagged?.status === 'banned' ? 'banned' : statusOf(cell('status'), mapping.status ?? '', to, flagged)
  const end = endOf(cell, to)
  const isOver =
    /^(?:expired|abgelaufen)$/i.test(cell('status') ?? '') && !(typeof end === 'object' && 'at' in end)
  const skip =
    status === 'skip'
      ? 'The word of its status is unknown'
      : end === 'skip'
        ? 'It has no end'
        : isOver && status !== 'banned'
          ? 'It has expired, and the file does not say when'
          : undefined
  const shared = {
    ...origin,
    ...(typeof end === 'object' && 'problem' in end ? { problem: end.problem } : {}),
    ...(skip === undefined ? {} : { skip }),
    ...textOfCell('type', cell('type')?.slice(0, 64)),
    ...textOfCell('note', cell('note')),
  }
  const ends = end === 'skip' || (typeof end === 'object' && 'problem' in end) ? {} : { end }
  const banned = status === 'banned' ? { banReason: cell('banReason') ?? '' } : {}
  const devices = hardwareIdsOf(cell('device'))
  if (username !== undefined) {
    to.addUser({
      ...shared,
      ...ends,
      ...banned,
      ...secretsOf(cell),
      ...devices,
      ...pauseOf(status, ends.end),
      kind: 'user',
      username,
      ...(key === undefined ? {} : { keys: [key] }),
    })
  }
  if (key === undefined) return
  const holder = username ?? cell('usedBy')
  to.addLicense({
    ...shared,
    ...ends,
    ...banned,
    kind: 'license',
    key,
    ...licenseFacts(cell, devices.devices),
    ...stateOfLicense(status, holder, users, to),
  })
}

const textOfCell = <Name extends string>(name: Name, text: string | undefined) =>
  (text === undefined ? {} : { [name]: text }) as Partial<Record<Name, string>>

function secretsOf(cell: Cell): Partial<ImportedUser> {
  const [password, email] = [cell('password'), cell('email')]
  return {
    ...(passwordForm(password) === 'bcrypt' ? { passwordHash: password ?? '' } : {}),
    ...(passwordForm(password) === 'other'
      ? { hint: 'Its password is stored in a form that cannot be taken along.' }
      : {}),
    ...(email === undefined ? {} : isSha1(email) ? { emailSha1: email.toLowerCase() } : { email }),
  }
}

function licenseFacts(cell: Cell, devices: string[] | undefined): Partial<ImportedLicense> {
  const most = cell('devicesMax')
  const count = numberOf(most)
  const devicesMax = /^(?:unlimited|any|-1)$/i.test(most ?? '') ? -1 : count
  return {
    ...(devicesMax !== undefined && Number.isInteger(devicesMax) && devicesMax !== 0 ? { devicesMax } : {}),
    ...textOfCell('reference', cell('reference')?.slice(0, 100)),
    ...(devices === undefined ? {} : { devices }),
  }
}

/** Several hardware ids of one cell stand in lines of their own, or between commas or semicolons. */
function hardwareIdsOf(cell: string | undefined): Pick<ImportedUser, 'devices' | 'gluedDevices'> {
  if (cell === undefined) return {}
  const parts = cell.split(/[\n;,]+/).slice(0, 1000)
  if (parts.length > 1) return { devices: [...new Set(parts.flatMap((part) => hardwareIds(part).ids))] }
  const { ids, glued } = hardwareIds(cell)
  return glued ? { gluedDevices: ids[0] ?? '' } : { devices: ids }
}

type Status = ImportedLicense['status'] | 'active' | undefined

const words: Record<string, Exclude<Status, undefined>> = Object.fromEntries([
  ...['unused', 'not used', 'new', 'available', 'free', 'unactivated'].map((w) => [w, 'unused']),
  ...['used', 'redeemed', 'activated', 'assigned', 'sold'].map((word) => [word, 'used']),
  ...['active', 'valid', 'enabled', 'expiring', 'expired', 'ok'].map((word) => [word, 'active']),
  ...['banned', 'blocked', 'revoked', 'suspended', 'disabled', 'terminated', 'refunded'].map((w) => [
    w,
    'banned',
  ]),
  ...['paused', 'frozen', 'on hold'].map((word) => [word, 'paused']),
])

interface Flag {
  column: string
  when: boolean
  status: 'banned' | 'used'
}

const bannedNames = /^(?:is)?(?:banned|suspended|revoked|blocked|disabled|terminated|refunded|gesperrt)$/
const activeNames = /^(?:is)?(?:active|enabled|valid|aktiv)$/
const usedNames = /^(?:is)?(?:used|redeemed|activated)$/

/** What a flag says whose column has no field: a key that is dead in the old system stays dead. */
function flagOf(column: string): Flag[] {
  const name = (column.split('.').at(-1) ?? '').toLowerCase().replace(/[^a-z]/g, '')
  if (bannedNames.test(name)) return [{ column, when: true, status: 'banned' }]
  if (activeNames.test(name)) return [{ column, when: false, status: 'banned' }]
  return usedNames.test(name) ? [{ column, when: true, status: 'used' }] : []
}

/** A column of bans can hold their reasons. */
const isRaised = ({ when, status }: Flag, cell: string): boolean =>
  when && status === 'banned' ? banOf(cell) !== null : toFlag(cell) === when

/** Flags count by the name of their column: `banned` with yes, `used` with yes. */
function statusOf(
  cell: string | undefined,
  column: string,
  to: Collector,
  flagged: Flag | undefined,
): Status | 'skip' {
  if (cell === undefined) return flagged?.status
  const word = cell.toLowerCase().replaceAll('_', ' ')
  const status = Object.hasOwn(words, word) ? words[word] : statusOfFlag(cell, column)
  if (status === 'active' || status === 'unused') return flagged?.status ?? status
  return status ?? to.ask('unknownStatus')
}

function statusOfFlag(cell: string, column: string): Status {
  if (toFlag(cell) !== undefined) {
    if (/ban|suspend|revok|block|disabled|gesperrt/i.test(column))
      return isFlagged(cell) ? 'banned' : 'active'
    if (/used|redeem|activat/i.test(column)) return isFlagged(cell) ? 'used' : 'unused'
    if (/active|valid|enabled|aktiv/i.test(column)) return isFlagged(cell) ? 'active' : 'banned'
  }
  return undefined
}

function stateOfLicense(
  status: Status | 'skip',
  holder: string | undefined,
  users: ReadonlySet<string>,
  to: Collector,
): Pick<ImportedLicense, 'status' | 'usedBy' | 'skip'> {
  const known = holder !== undefined && users.has(toFolded(holder))
  const usedBy = known ? { usedBy: holder } : {}
  if (status === 'skip') return { status: 'unused' }
  if (status === 'banned') return { status, ...usedBy }
  if (known) return { status: status === 'paused' ? 'paused' : 'used', ...usedBy }
  if (status === 'used' || status === 'paused' || holder !== undefined)
    return { status: 'used', skip: 'Used by an end user who is not in the files' }
  if (status === 'unused' || status === 'active') return { status: 'unused' }
  return to.ask('keysWithoutStatus') === 'unused'
    ? { status: 'unused' }
    : { status: 'unused', skip: 'The files do not say whether it is used' }
}

function pauseOf(status: Status | 'skip', end: ImportedEnd | undefined): Pick<ImportedUser, 'pausedSeconds'> {
  return status === 'paused' && end !== undefined && end !== 'never' && 'seconds' in end
    ? { pausedSeconds: end.seconds }
    : {}
}

function endOf(cell: Cell, to: Collector): ImportedEnd | 'skip' | { problem: string } {
  const [endsAt, duration] = [cell('endsAt'), cell('duration')]
  if (endsAt !== undefined) {
    if (forever.test(endsAt)) return 'never'
    const moment = readMoment(endsAt)
    if ('ms' in moment) return { at: moment.ms }
    if ('problem' in moment) return moment
    const ordered = readMoment(endsAt, to.ask('dateOrder') as DateOrder)
    return 'ms' in ordered ? { at: ordered.ms } : { problem: 'The date cannot be read' }
  }
  if (duration === undefined) return to.ask('emptyEnds') === 'never' ? 'never' : 'skip'
  if (forever.test(duration)) return 'never'
  const [, days, unit = 'days'] =
    /^(\d{1,6}(?:[.,]\d{1,20})?) ?(hour|day|week|month|year)?s?$/i.exec(duration) ?? []
  const factor =
    { hour: 1 / 24, day: 1, week: 7, month: 30, year: 365 }[unit.toLowerCase().replace(/s$/, '')] ?? 1
  const lasts = days === undefined ? isoDurationOf(duration) : daysOf(Number(days.replace(',', '.')) * factor)
  if (lasts === undefined) return { problem: 'The duration is not a number of days' }
  return lasts === 'never' ? 'never' : { seconds: Math.max(1, Math.round(lasts / 1000)) }
}
