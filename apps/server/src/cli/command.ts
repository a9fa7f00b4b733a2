import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ParseArgsOptionsConfig } from 'node:util'
import { type Config, readConfig } from '../config.ts'
import { type OpenDatabase, openDatabase } from '../db/open.ts'
import { refuseMoved } from '../db/prepare.ts'

/** An error in the command line, printed without a stack. */
export class UsageError extends Error {}

/** The values of options as they were typed. */
export type Options = Record<string, string | boolean | undefined>

/** One way to type a command after `keyward`, what it does, and the options that have lines of their own in the help. */
export interface Form {
  form: string
  does: readonly string[]
  options?: readonly (readonly [option: string, does: string])[]
}

/** A command of the command line. */
export interface Command<Given extends Options = Options> {
  name: string
  forms: readonly Form[]
  /** The only options that it takes, as `parseArgs` reads them. */
  options?: ParseArgsOptionsConfig
  /** Throws a `UsageError` for arguments that it cannot use, before it opens anything. */
  run(args: string[], options: Given): Promise<void> | void
}

/** Names the type of a command's options; a table of commands does not know them. */
export const command = <Given extends Options>(of: Command<Given>): Command => of as unknown as Command

export function print(text: string): void {
  process.stdout.write(text)
}

/** Opens the server's database for the work, and closes it afterwards. */
export async function withDatabase(
  work: (database: OpenDatabase, config: Config) => Promise<void>,
): Promise<void> {
  const config = readConfig(process.env)
  const database = openExisting(config)
  try {
    await work(database, config)
    // If a move has ended meanwhile, what was written here is missing there.
    if (config.databaseUrl === undefined) refuseMoved(config.dataDir)
  } finally {
    await database.close()
  }
}

/** A mistyped directory must not create a new, empty database. */
export function openExisting(config: Config): OpenDatabase {
  if (config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'keyward.db'))) {
    throw new UsageError(`There is no database in ${config.dataDir}. Set DATA_DIR, or start Keyward once.`)
  }
  if (config.databaseUrl === undefined) refuseMoved(config.dataDir)
  return openDatabase({ url: config.databaseUrl, dataDir: config.dataDir })
}
