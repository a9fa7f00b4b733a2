/** Checks the rows of a table in one test, which fails with all rows that do not hold, by their names. */
export async function everyRow<Facts extends unknown[]>(
  rows: readonly (readonly [name: string, ...facts: Facts])[],
  check: (name: string, ...facts: Facts) => unknown,
): Promise<void> {
  if (rows.length === 0) throw new Error('the table has no rows')
  const failures: { name: string; error: Error }[] = []
  for (const row of rows) {
    try {
      await check(...row)
    } catch (error) {
      failures.push({ name: row[0], error: error as Error })
    }
  }
  if (failures.length === 0) return
  const lines = failures.map(({ name, error }) => `${name}: ${error.message}`)
  throw new Error(`${failures.length} of ${rows.length} rows do not hold\n${lines.join('\n')}`, {
    cause: failures[0]!.error,
  })
}
