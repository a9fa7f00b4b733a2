export const csvDelimiters = [',', ';', '\t', '|'] as const
export type CsvDelimiter = (typeof csvDelimiters)[number]

/** A line has at most so many cells, and a cell so many characters. */
export const csvBounds = { cells: 200, cell: 10_000 } as const

export interface CsvLine {
  /** Where it begins, counted from 1. */
  line: number
  cells: string[]
  problem: string | undefined
  /** Whether a quote stands where RFC 4180 allows none. */
  isLoose: boolean
}

/**
 * Reads CSV with any line end, line by line, without empty lines. It takes what RFC 4180 refuses: a quote inside of a cell,
 * or one that is not closed, is a character like others. Never throws; a line beyond the bounds has a problem.
 */
export function* readCsvTable(text: string, delimiter: CsvDelimiter): Generator<CsvLine> {
  const { length } = text
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0
  let line = 1
  while (at < length) {
    // A file can be a megabyte of empty lines.
    if (text[at] === '\n' || text[at] === '\r') {
      at += text[at] === '\r' && text[at + 1] === '\n' ? 2 : 1
      line += 1
      continue
    }
    const record: CsvLine = { line, cells: [], problem: undefined, isLoose: false }
    let ended = false
    while (!ended) {
      const cell = readCell(text, at, delimiter)
      if (record.cells.length < csvBounds.cells) record.cells.push(cell.text)
      else record.problem ??= `The line has more than ${csvBounds.cells} cells`
      if (cell.tooLong) record.problem ??= `A cell has more than ${csvBounds.cell} characters`
      record.isLoose ||= cell.isLoose
      line += cell.lineEnds
      at = cell.end
      ended = at >= length || text[at] !== delimiter
      if (!ended) at += 1
      // The delimiter was the last character: an empty cell follows, which says nothing.
      if (at >= length) ended = true
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1
    at += 1
    line += 1
    if (record.problem !== undefined || record.cells.some((cell) => cell.trim() !== '')) yield record
  }
}

interface Cell {
  text: string
  /** The position of the delimiter or line end behind it. */
  end: number
  lineEnds: number
  tooLong: boolean
  isLoose: boolean
}

const readCell = (text: string, start: number, delimiter: CsvDelimiter): Cell =>
  (text[start] === '"' ? readQuoted(text, start, delimiter) : undefined) ?? readPlain(text, start, delimiter)

function readPlain(text: string, start: number, delimiter: CsvDelimiter): Cell {
  let end = start
  for (; end < text.length; end += 1) {
    const character = text[end]
    if (character === delimiter || character === '\n' || character === '\r') break
  }
  const tooLong = end - start > csvBounds.cell
  const cell = text.slice(start, end)
  return { text: tooLong ? '' : cell, end, lineEnds: 0, tooLong, isLoose: cell.includes('"') }
}

/** Undefined unless a closing quote stands before a delimiter or line end, near enough. */
function readQuoted(text: string, start: number, delimiter: CsvDelimiter): Cell | undefined {
  const last = Math.min(text.length, start + 2 * csvBounds.cell)
  let lineEnds = 0
  for (let at = start + 1; at < last; at += 1) {
    const character = text[at]
    if (character === '\n' || (character === '\r' && text[at + 1] !== '\n')) lineEnds += 1
    if (character !== '"') continue
    const next = text[at + 1]
    if (next === '"') {
      at += 1
      continue
    }
    if (next !== undefined && next !== delimiter && next !== '\n' && next !== '\r') return undefined
    const inner = text.slice(start + 1, at).replaceAll('""', '"')
    const tooLong = inner.length > csvBounds.cell
    return { text: tooLong ? '' : inner, end: at + 1, lineEnds, tooLong, isLoose: false }
  }
  return undefined
}

/** The delimiter that divides the first lines into the most columns, the same number in each; undefined if none does. */
export function findDelimiter(text: string): CsvDelimiter | undefined {
  const start = text.slice(0, 64_000)
  let best: { delimiter: CsvDelimiter; score: number } | undefined
  for (const delimiter of csvDelimiters) {
    const widths: number[] = []
    for (const { cells } of readCsvTable(start, delimiter)) {
      widths.push(cells.length)
      if (widths.length === 20) break
    }
    // The last of the lines can be cut off.
    if (widths.length > 2) widths.pop()
    const [width = 1] = widths
    if (width < 2) continue
    const score = width * widths.filter((other) => other === width).length
    if (!best || score > best.score) best = { delimiter, score }
  }
  return best?.delimiter
}
