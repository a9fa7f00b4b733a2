const wordsPerMinute = 230

/** Counts the words a reader sees; skips Markdown code blocks and link targets. */
export function count(text) {
  const prose = text
    .replace(/^(```|~~~)[\s\S]*?^\1.*$/gm, '')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/<!--[\s\S]*?-->/g, '')
  const words = prose.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)?.length ?? 0
  const headings = text.match(/^#{1,6}\s/gm)?.length ?? 0
  return { words, headings, minutes: Math.ceil(words / wordsPerMinute) }
}

/** Formats the counts as a table with a line per file and a total. */
export function toTable(rows) {
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0)
  const total = { name: 'All', words: sum('words'), headings: sum('headings'), minutes: sum('minutes') }
  const lines = (rows.length > 1 ? [...rows, total] : rows).map((row) => [
    row.name,
    `${row.words}`,
    `${row.headings}`,
    `${row.minutes} min`,
  ])
  const table = [['File', 'Words', 'Headings', 'Reading'], ...lines]
  const widths = table[0].map((_, column) => Math.max(...table.map((line) => line[column].length)))
  const pad = (cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))
  const [head, ...body] = table.map((line) => line.map(pad).join('  '))
  return [head, '-'.repeat(head.length), ...body].join('\n')
}
