/** Where a spreadsheet of any locale would begin a formula; a quote in front makes it a text, as in the server's files. */
const formula = /(?<=^|[;|\t\r\n])(?=["']*[=+\-@\t\r＝＋－＠])/g

/** RFC 4180, with cells neutralized that a spreadsheet would run. */
export function toCsv(rows: readonly (readonly (string | boolean | null)[])[]): string {
  return rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('')
}

function toCell(value: string | boolean | null): string {
  const text = String(value ?? '')
  const safe = text.replace(formula, "'")
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
