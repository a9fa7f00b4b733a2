/** What a spreadsheet would take for a formula; a quote in front makes it a text, as in the files of the server. */
const formula = /^'*[=+\-@\t\r]/

/** RFC 4180, with cells neutralised that a spreadsheet would run. */
export function toCsv(rows: readonly (readonly (string | boolean | null)[])[]): string {
  return rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('')
}

function toCell(value: string | boolean | null): string {
  const text = String(value ?? '')
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
