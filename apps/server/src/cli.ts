import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAccount } from './cli-account.ts'
import { backUpCommand, restoreCommand } from './cli-backup.ts'
import { isCommand, usage } from './cli-commands.ts'
import { couponOptions, parseCoupon, UsageError } from './cli-coupon.ts'
import { hashCommand } from './cli-hash.ts'
import { mcpCommand } from './cli-mcp.ts'
import { parseMigrate } from './cli-migrate.ts'
import { parseOutbox } from './cli-outbox.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { systemClock, toIso } from './core/clock.ts'
import { OperatorError } from './core/operator-error.ts'
import { version } from './core/version.ts'
import { databaseFault } from './db/faults.ts'
import { type OpenDatabase, openDatabase } from './db/open.ts'
import type { CurrentPlan } from './modules/owners/plan.rules.ts'
import { setPlan } from './modules/plans/plans.service.ts'

const help = `Keyward ${version}, the command line of the server

Usage:
${usage}

The database is the server's: DATABASE_URL, or else DATA_DIR (default ./data).
The server may be running, except for restore; changes apply from its next request.
`

const daysDefault = 365
const daysMax = 36_500

async function main(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  if (values.help || positionals[0] === 'help') return print(help)
  if (values.version) return print(`${version}\n`)
  const [command, ...rest] = positionals
  if (command === undefined) throw new UsageError('No command given. See keyward --help.')
  if (!isCommand(command)) throw new UsageError(`There is no command ${command}.`)
  const {
    help: _help,
    version: _version,
    days,
    forever,
    'with-key': withKey,
    write,
    http,
    json,
    status,
    ...ofCoupons
  } = values
  if (command === 'outbox' && Object.keys(values).every((name) => name === 'json')) {
    const read = parseOutbox(rest, json ?? false)
    return withDatabase(async (database) => print(await read(database)))
  }
  if (command === 'migrate' && Object.keys(values).every((name) => name === 'json' || name === 'status')) {
    const read = parseMigrate(rest, { status, json })
    return withDatabase(async (database) => print(await read(database)))
  }
  const ofPlan = days !== undefined || forever !== undefined
  const ofAgents = (write ?? http) !== undefined
  const isOther = ofPlan || (withKey ?? json) !== undefined || Object.keys(ofCoupons).length > 0
  if (command === 'mcp' && !isOther) return mcpCommand(rest, { write, http }, process.env)
  if (ofAgents || (json ?? status) !== undefined)
    throw new UsageError(`${command} does not take this option.`)
  const hasOther = ofPlan || Object.keys(ofCoupons).length > 0
  if (command === 'backup' && !hasOther) {
    return print(backUpCommand(readConfig(process.env), rest, withKey ?? false, systemClock.now()))
  }
  if (command === 'restore' && !hasOther && withKey === undefined) {
    return print(restoreCommand(readConfig(process.env), rest, systemClock.now()))
  }
  if (command === 'plan' && withKey === undefined && Object.keys(ofCoupons).length === 0)
    return changePlan(rest, { days, forever })
  if (command === 'coupon' && !ofPlan && withKey === undefined) {
    const change = parseCoupon(rest, ofCoupons)
    return withDatabase(async (database) => print(await change(database)))
  }
  if (command === 'hash' && Object.keys(values).length === 0) return print(await hashCommand(rest))
  if ((command === 'owner' || command === 'reseller') && Object.keys(values).length === 0) {
    const work = parseAccount(command, rest)
    return withDatabase((database, config) => work(database, print, config))
  }
  throw new UsageError(`${command} does not take this option.`)
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        days: { type: 'string' },
        forever: { type: 'boolean' },
        'with-key': { type: 'boolean' },
        write: { type: 'boolean' },
        http: { type: 'string' },
        json: { type: 'boolean' },
        status: { type: 'boolean' },
        ...couponOptions,
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function changePlan(
  [email, plan, ...more]: string[],
  term: { days: string | undefined; forever: boolean | undefined },
): Promise<void> {
  if (email === undefined || more.length > 0 || (plan !== 'premium' && plan !== 'free')) {
    throw new UsageError('Usage: keyward plan <email> premium|free')
  }
  if (plan === 'free' && term.days !== undefined) throw new UsageError('--days is only for premium.')
  if (plan === 'free' && term.forever) throw new UsageError('--forever is only for premium.')
  if (term.days !== undefined && term.forever) throw new UsageError('Use --days or --forever, not both.')
  const days = term.days === undefined ? daysDefault : Number(term.days)
  if (!Number.isInteger(days) || days < 1 || days > daysMax) {
    throw new UsageError(`--days takes a whole number from 1 to ${daysMax}.`)
  }
  await withDatabase(async (database, { defaultPlan }) => {
    const change = await setPlan(database, systemClock, { email, plan, days: term.forever ? null : days })
    if (!change) throw new UsageError(`There is no account with the email ${email}.`)
    print(`${change.email}: ${describe(change.before)} -> ${describe(change.after)}\n`)
    if (plan === 'free' && defaultPlan === 'premium')
      print('Every vendor of this server has premium (DEFAULT_PLAN), so this one keeps it.\n')
  })
}

async function withDatabase(work: (database: OpenDatabase, config: Config) => Promise<void>): Promise<void> {
  const config = readConfig(process.env)
  const database = openExisting(config)
  try {
    await work(database, config)
  } finally {
    await database.close()
  }
}

const describe = ({ plan, until }: CurrentPlan): string => {
  if (plan === 'free') return plan
  return until === null ? `${plan} without an end` : `${plan} until ${toIso(until)}`
}

/** A mistyped directory must not create a new, empty database. */
function openExisting(config: Config): OpenDatabase {
  if (config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'keyward.db'))) {
    throw new UsageError(`There is no database in ${config.dataDir}. Set DATA_DIR, or start Keyward once.`)
  }
  return openDatabase({ url: config.databaseUrl, dataDir: config.dataDir })
}

function print(text: string): void {
  process.stdout.write(text)
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
