import { fromCsvCell } from '../csv.ts'
import { type CsvDelimiter, csvDelimiters, findDelimiter, readCsvTable } from './csv-table.ts'
import { type JsonElement, readJsonLists, restOfDocument } from './json-lists.ts'

const columnsMax = 200
const listsMax = 1000
const nameMax = 100
const valueMax = 10_000

export interface TableRow {
  /** The line of a CSV file, or the place in a JSON list, from 1. */
  line: number
  /** The cells that are not empty, by their columns. */
  cells: ReadonlyMap<string, string>
  problem: string | undefined
}

export interface Table {
  columns: string[]
  rows: Iterable<TableRow>
}

/** A CSV file or the longest list of a JSON file as a table; undefined if the text holds none. */
export function openTable(text: string): Table | undefined {
  const start = text.slice(0, 1000).trimStart()
  return start.startsWith('[') || start.startsWith('{') ? openList(text) : openCsv(text)
}

function openCsv(text: string): Table | undefined {
  const { delimiter, from } = delimiterOf(text)
  const body = from === 0 ? text : text.slice(from)
  const first = readCsvTable(body, delimiter).next().value
  if (!first || first.problem !== undefined) return undefined
  const hasNames = isHeader(first.cells)
  const columns = uniqueNames(hasNames ? first.cells : first.cells.map(() => ''))
  const before = from === 0 ? 0 : 1
  return {
    columns,
    rows: {
      *[Symbol.iterator]() {
        let isFirst = true
        for (const { line, cells, problem } of readCsvTable(body, delimiter)) {
          if (!(isFirst && hasNames)) {
            const tooLong =
              cells.length > columns.length && cells.slice(columns.length).some((cell) => cell.trim() !== '')
            yield {
              line: line + before,
              cells: toCells(columns, cells),
              problem: problem ?? (tooLong ? 'The line has more cells than the first line' : undefined),
            }
          }
          isFirst = false
        }
      },
    },
  }
}

/** A spreadsheet names the delimiter in a first line such as `sep=;`. */
function delimiterOf(text: string): { delimiter: CsvDelimiter; from: number } {
  const named = /^\uFEFF?"?sep=(.)"?(?:\r\n|\r|\n)/i.exec(text.slice(0, 20))
  const delimiter = csvDelimiters.find((known) => known === named?.[1])
  if (named && delimiter) return { delimiter, from: named[0].length }
  return { delimiter: findDelimiter(text) ?? ',', from: 0 }
}

/** A first line of data has a number, a date, an address or a cell twice. */
const isHeader = (cells: readonly string[]) => {
  const filled = cells.map((cell) => cell.trim().toLowerCase()).filter(Boolean)
  return (
    new Set(filled).size === filled.length &&
    filled.every((cell) => cell.length <= nameMax && /\p{L}/u.test(cell) && !/\d{3}|@|\d[-./:]\d/.test(cell))
  )
}

function uniqueNames(cells: readonly string[]): string[] {
  const names = new Set<string>()
  for (const [at, cell] of cells.slice(0, columnsMax).entries()) {
    const name = cleanName(cell) || `Column ${at + 1}`
    let unique = name
    for (let copy = 2; names.has(unique); copy += 1) unique = `${name.slice(0, nameMax - 6)} (${copy})`
    names.add(unique)
  }
  return [...names]
}

const cleanName = (cell: string) =>
  cell
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, nameMax)
    .toWellFormed()
    .trim()

function toCells(columns: readonly string[], values: readonly string[]): Map<string, string> {
  const cells = new Map<string, string>()
  columns.forEach((column, at) => {
    const value = fromCsvCell(values[at] ?? '').trim()
    if (value !== '') cells.set(column, value)
  })
  return cells
}

function openList(text: string): Table | undefined {
  const sizes = new Map<string, number>()
  const columns = new Set<string>()
  for (const element of readJsonLists(text)) {
    if (element.list === restOfDocument || (sizes.size >= listsMax && !sizes.has(element.list))) continue
    sizes.set(element.list, (sizes.get(element.list) ?? 0) + 1)
  }
  const [list] = [...sizes].reduce<[string, number]>(
    (most, next) => (next[1] > most[1] ? next : most),
    ['', 0],
  )
  let seen = 0
  for (const element of readJsonLists(text)) {
    if (element.list !== list) continue
    for (const name of flatten(element).keys()) if (columns.size < columnsMax) columns.add(name)
    seen += 1
    if (seen >= 100) break
  }
  if (columns.size === 0) return undefined
  return {
    columns: [...columns],
    rows: {
      *[Symbol.iterator]() {
        for (const element of readJsonLists(text)) {
          if (element.list !== list) continue
          yield { line: element.place, cells: flatten(element), problem: element.problem }
        }
      },
    },
  }
}

/** The members of an object that hold texts, numbers and flags; those of objects inside of it as `outer.inner`. */
function flatten({ value }: JsonElement): Map<string, string> {
  const cells = new Map<string, string>()
  if (typeof value === 'string') cells.set('value', value)
  const add = (object: object, prefix: string, depth: number) => {
    for (const [name, member] of Object.entries(object)) {
      if (cells.size >= columnsMax) return
      const path = cleanName(prefix + name)
      if (typeof member === 'object' && member !== null && !Array.isArray(member)) {
        if (depth < 3) add(member as object, `${prefix}${name}.`, depth + 1)
        continue
      }
      const text = Array.isArray(member)
        ? member.filter(isScalar).join('\n')
        : isScalar(member)
          ? String(member)
          : ''
      const trimmed = text.slice(0, valueMax).trim()
      if (path !== '' && trimmed !== '') cells.set(path, trimmed)
    }
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) add(value, '', 1)
  return cells
}

const isScalar = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
