import { version } from '../core/version.ts'
import type { OpenDatabase } from '../db/open.ts'
import { readSchemaState } from '../db/prepare.ts'
import { command, print, UsageError, withDatabase } from './command.ts'

type MigrateOptions = { status?: boolean; json?: boolean }

export const migrateCommand = command<MigrateOptions>({
  name: 'migrate',
  forms: [
    {
      form: 'migrate --status [--json]',
      does: [
        'show the version of the database, and the migrations that',
        'the next start runs; change nothing',
      ],
    },
  ],
  options: { status: { type: 'boolean' }, json: { type: 'boolean' } },
  run(args, options) {
    const read = parseMigrate(args, options)
    return withDatabase(async (database) => print(await read(database)))
  },
})

/** Shows which migrations ran, and which ones the next start of this version runs. */
function parseMigrate(
  args: string[],
  { status, json }: MigrateOptions,
): (database: OpenDatabase) => Promise<string> {
  if (args.length > 0 || !status) {
    throw new UsageError('Usage: keyward migrate --status [--json]. Migrations run when the server starts.')
  }
  return async (database) => {
    const { applied, missing } = await readSchemaState(database)
    const schema = applied.at(-1) ?? null
    if (json) return `${JSON.stringify({ version, schema, applied: applied.length, missing }, null, 2)}\n`
    const next = missing.length === 0 ? 'Nothing is missing.' : 'The next start runs:'
    return [
      `Keyward ${version}`,
      schema === null
        ? 'The database is empty.'
        : `The database is at ${schema}, after ${applied.length} migrations.`,
      next,
      ...missing.map((name) => `  ${name}`),
      '',
    ].join('\n')
  }
}
