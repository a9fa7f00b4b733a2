import { systemClock } from '../core/clock.ts'
import { type RotationReport, rotateKeys } from '../db/key-rotation/rotate.ts'
import { sealedColumns } from '../modules/system/sealed-columns.ts'
import { command, print, UsageError, withDatabase } from './command.ts'

type KeysOptions = { servers?: string; json?: boolean }

const form = 'keys rotate [--servers N] [--json]'

export const keysCommand = command<KeysOptions>({
  name: 'keys',
  forms: [
    {
      form,
      does: ['replace the secret key while servers run, and seal every value', 'anew; can be repeated'],
      options: [['--servers <n>', 'how many servers run on PostgreSQL']],
    },
  ],
  options: { servers: { type: 'string' }, json: { type: 'boolean' } },
  run(args, { servers, json = false }) {
    if (args.join(' ') !== 'rotate') throw new UsageError(`Usage: keyward ${form}`)
    if (servers !== undefined && !/^\d{1,3}$/.test(servers))
      throw new UsageError('--servers takes the number of servers that run.')
    return withDatabase(async (database, config) => {
      if (config.databaseUrl !== undefined && servers === undefined)
        throw new UsageError('On PostgreSQL, --servers says how many servers run; 0 if all are stopped.')
      if (config.databaseUrl === undefined && servers !== undefined)
        throw new UsageError('--servers is for PostgreSQL: an embedded database has one server at most.')
      const report = await rotateKeys(database, config, {
        columns: sealedColumns,
        servers: servers === undefined ? undefined : Number(servers),
        clock: systemClock,
        tell: (line) => process.stderr.write(`${line}\n`),
      })
      print(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report))
    })
  },
})

function describe({ sealed, unreadable, oldKey }: RotationReport): string {
  const lines = Object.entries(sealed).map(([name, n]) => `  ${name}: ${n}\n`)
  const lost = Object.entries(unreadable).map(
    ([name, n]) => `Warning: neither key opens ${n} values of ${name}; they stay as they are.\n`,
  )
  const total = Object.values(sealed).reduce((sum, n) => sum + n, 0)
  const old =
    oldKey === null
      ? 'Keep the key before: backups made before need it. After a day, restart every server without SECRET_KEY_PREVIOUS.\n'
      : `The key before is in ${oldKey}: backups made before need it. Move it to where keys are kept.\n`
  return `Sealed ${total} values with the new key.\n${lines.join('')}${lost.join('')}${old}`
}
