/** How many rows are deleted without typing anything, unless one is in use. */
const untypedMax = 24

/** What the person types before many rows are deleted for good: their number. One row has its own name on the screen. */
export function typedNumber(rows: number, inUse: number): string | undefined {
  return rows > untypedMax || (rows > 1 && inUse > 0) ? String(rows) : undefined
}
