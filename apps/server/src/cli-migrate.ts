import { UsageError } from './cli-coupon.ts'
import { version } from './core/version.ts'
import type { OpenDatabase } from './db/open.ts'
import { readSchemaState } from './db/prepare.ts'

/** Shows which migrations ran, and which ones the next start of this version runs. */
export function parseMigrate(
  args: string[],
  { status, json }: { status: boolean | undefined; json: boolean | undefined },
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
