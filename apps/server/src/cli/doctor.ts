import { type Config, ConfigError, readConfig } from '../config.ts'
import { second } from '../core/clock.ts'
import { type Finding, failure } from '../core/finding.ts'
import { OperatorError } from '../core/operator-error.ts'
import { checkClock, checkDisk, checkFiles, checkKey, checkSchema, checkSettings } from '../db/doctor.ts'
import { databaseFault } from '../db/faults.ts'
import type { OpenDatabase } from '../db/open.ts'
import { command, openExisting, print, UsageError } from './command.ts'
import { checkBackups } from './doctor-backups.ts'
import {
  checkAddress,
  checkMail,
  checkPayments,
  checkQueues,
  checkShops,
  checkWebhooks,
} from './doctor-checks.ts'

type Named = Finding & { check: string }
type DoctorOptions = { json?: boolean; mail?: string }

const checkMs = 12 * second
const exitCodes = { ok: 0, warning: 1, error: 2 }

export const doctorCommand = command<DoctorOptions>({
  name: 'doctor',
  forms: [
    {
      form: 'doctor [--json]',
      does: [
        'check the installation, and say how each fault is repaired;',
        'ends with 1 for warnings and 2 for errors',
      ],
      options: [['--mail <email>', 'send a real test mail']],
    },
  ],
  options: { json: { type: 'boolean' }, mail: { type: 'string' } },
  async run(args, { json = false, mail }) {
    if (args.length > 0) throw new UsageError('Usage: keyward doctor [--json] [--mail <email>]')
    const findings = await examine(mail)
    print(json ? `${JSON.stringify({ findings }, null, 2)}\n` : findings.map(describe).join(''))
    process.exitCode = Math.max(...findings.map(({ state }) => exitCodes[state]))
  },
})

const describe = ({ check, state, text, fix }: Named): string =>
  `${state.padEnd(8)}${check}: ${text}\n${fix === null ? '' : `        Fix: ${fix}\n`}`

async function examine(mail: string | undefined): Promise<Named[]> {
  let config: Config
  try {
    config = readConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.mistakes.map((mistake) => ({
      check: 'configuration',
      ...failure(mistake, 'Correct this variable; docs/configuration.md describes it.'),
    }))
  }
  const outside = run(config, [
    ['files', () => checkFiles(config)],
    ['disk', () => checkDisk(config)],
    ['address', () => checkAddress(config)],
    ['mail', () => checkMail(config, mail)],
    ['payments', () => checkPayments(config)],
  ])
  return [...(await outside), ...(await examineDatabase(config))]
}

async function examineDatabase(config: Config): Promise<Named[]> {
  let database: OpenDatabase
  try {
    database = openExisting(config)
  } catch (error) {
    return [{ check: 'database', ...faultOf(error, config) }]
  }
  try {
    const [probe] = await run(config, [['database', async () => [await probed(database)]]])
    if (probe?.state === 'error') return [probe]
    return await run(config, [
      ['key', () => checkKey(database, config)],
      ['schema', () => checkSchema(database)],
      ['clock', () => checkClock(database)],
      ['settings', () => checkSettings(database)],
      ['backups', () => checkBackups(database, config)],
      ['queues', () => checkQueues(database)],
      ['webhooks', () => checkWebhooks(database)],
      ['shops', () => checkShops(database)],
    ])
  } finally {
    await database.close()
  }
}

async function probed({ db }: OpenDatabase): Promise<Finding> {
  await db.selectFrom('meta').select('name').limit(1).execute()
  return { state: 'ok', text: 'The database answers.', fix: null }
}

/** Runs checks side by side; one that takes too long is an error. */
async function run(
  config: Config,
  checks: readonly (readonly [name: string, check: () => Promise<Finding[]>])[],
): Promise<Named[]> {
  const results = await Promise.all(
    checks.map(async ([check, examineIt]) => {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<Finding[]>((resolve) => {
        const fix = 'Find out what keeps it busy, then run keyward doctor again.'
        timer = setTimeout(() => resolve([failure(`No answer within ${checkMs / second} s.`, fix)]), checkMs)
      })
      const found = examineIt().catch((error: unknown) => [faultOf(error, config)])
      const findings = await Promise.race([found, late])
      clearTimeout(timer)
      return findings.map((finding) => ({ check, ...finding }))
    }),
  )
  return results.flat()
}

/** Messages of other errors could quote what is secret. */
function faultOf(error: unknown, config: Config): Finding {
  const fault =
    error instanceof OperatorError || error instanceof UsageError ? error : databaseFault(error, config)
  const { code } = error as { code?: unknown }
  if (!fault)
    return failure(
      `The check failed (${String(code ?? 'unknown reason')}).`,
      "Run keyward doctor as the server's user, with its environment.",
    )
  return failure(
    fault.message,
    config.databaseUrl === undefined
      ? 'Set DATA_DIR to the directory of the server, and start Keyward once.'
      : 'Start the database server, and correct DATABASE_URL.',
  )
}
