import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { type Options, print, UsageError } from './cli/command.ts'
import { commands, usage } from './cli/commands.ts'
import { ConfigError, readConfig } from './config.ts'
import { OperatorError } from './core/operator-error.ts'
import { version } from './core/version.ts'
import { databaseFault } from './db/faults.ts'

const help = `Keyward ${version}, the command line of the server

Usage:
${usage}

The database is the server's: DATABASE_URL, or else DATA_DIR (default ./data).
The server may be running, except for restore, move and keys replace-lost; changes apply from its next request.
`

async function main(args: string[]): Promise<void> {
  const { typed, positionals } = readArguments(args)
  const [name, ...rest] = positionals
  const { help: showsHelp, version: showsVersion, ...options } = typed
  if (showsHelp || name === 'help') return print(help)
  if (showsVersion) return print(`${version}\n`)
  if (name === undefined) throw new UsageError('No command given. See keyward --help.')
  const command = commands.find((one) => one.name === name)
  if (!command) throw new UsageError(`There is no command ${name}.`)
  for (const option of Object.keys(options)) {
    if (!command.options || !(option in command.options))
      throw new UsageError(`${name} does not take this option.`)
  }
  await command.run(rest, options)
}

/** Reads the options of every command: one of another command gets an error of its own. */
function readArguments(args: string[]): { typed: Options; positionals: string[] } {
  const options: ParseArgsOptionsConfig = {
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  }
  for (const command of commands) Object.assign(options, command.options)
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
    return { typed: values as Options, positionals }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message} (keyward --help shows all commands)`
  if (error instanceof OperatorError) return error.message
  if (error instanceof ConfigError) return `Configuration: ${error.mistakes.join('; ')}`
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (code === '42P01' || message?.includes('no such table')) {
    return 'The database lacks tables of this version: start Keyward once, so that it creates them.'
  }
  return databaseFault(error, readConfig(process.env))?.message ?? stack ?? String(error)
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
})
