import { readConfig } from '../config.ts'
import { readDatabaseAddress } from '../config-database.ts'
import { systemClock } from '../core/clock.ts'
import { type MoveReport, move } from '../db/move/move.ts'
import { command, print, UsageError } from './command.ts'

const form = 'move <postgres://…> [--json]'

export const moveCommand = command<{ json?: boolean }>({
  name: 'move',
  forms: [
    {
      form,
      does: [
        'move the embedded database of a stopped server into an empty one',
        'of PostgreSQL, and compare every row',
      ],
    },
  ],
  options: { json: { type: 'boolean' } },
  async run([url, ...more], { json = false }) {
    if (url === undefined || more.length > 0) throw new UsageError(`Usage: keyward ${form}`)
    const address = readDatabaseAddress(url)
    if (typeof address === 'string')
      throw new UsageError(`The address of the database ${address}.\nUsage: keyward ${form}`)
    const tell = (line: string) => process.stderr.write(`${line}\n`)
    const report = await move(readConfig(process.env), url, { now: systemClock.now(), tell })
    print(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report))
  },
})

function describe({ to, rows, seconds, tables }: MoveReport): string {
  const did =
    tables.length === 0
      ? `An earlier run has moved everything to ${to}.`
      : `Moved ${rows} rows of ${tables.length} tables to ${to} in ${seconds.toFixed(1)} s.`
  return `${did}
Start the server with DATABASE_URL and the same SECRET_KEY (without one, the text in DATA_DIR/secret.key).
No server starts on the embedded database any more.
`
}
