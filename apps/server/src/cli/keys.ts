import { createInterface } from 'node:readline/promises'
import { systemClock } from '../core/clock.ts'
import { OperatorError } from '../core/operator-error.ts'
import { type RotationReport, rotateKeys } from '../db/key-rotation/rotate.ts'
import { replaceLostKey } from '../modules/system/lost-key.operator.ts'
import { sealedColumns } from '../modules/system/sealed-columns.ts'
import { command, print, UsageError, withDatabase } from './command.ts'
import { describeLost } from './lost-key.ts'

type KeysOptions = { servers?: string; yes?: boolean; json?: boolean }

const forms = { rotate: 'keys rotate [--servers N] [--json]', lost: 'keys replace-lost [--yes] [--json]' }
/** What the operator types. */
const sureWord = 'replace'

export const keysCommand = command<KeysOptions>({
  name: 'keys',
  forms: [
    {
      form: forms.rotate,
      does: ['replace the secret key while servers run, and seal every value', 'anew; can be repeated'],
      options: [['--servers <n>', 'how many servers run on PostgreSQL']],
    },
    {
      form: forms.lost,
      does: [
        'replace what a lost secret key has sealed, while no server runs.',
        'Licenses and end users stay; every program is shipped again',
      ],
    },
  ],
  options: { servers: { type: 'string' }, yes: { type: 'boolean' }, json: { type: 'boolean' } },
  run(args, options) {
    const [verb, ...more] = args
    if (verb === 'rotate' && more.length === 0 && options.yes === undefined) return rotate(options)
    if (verb === 'replace-lost' && more.length === 0 && options.servers === undefined) return replace(options)
    throw new UsageError(`Usage: keyward ${forms.rotate}, or keyward ${forms.lost}`)
  },
})

const show = (report: object, text: string, json: boolean) =>
  print(json ? `${JSON.stringify(report, null, 2)}\n` : text)

function rotate({ servers, json = false }: KeysOptions): Promise<void> {
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
    show(report, describe(report), json)
  })
}

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

function replace({ yes = false, json = false }: KeysOptions): Promise<void> {
  return withDatabase(async (database, config) => {
    const report = await replaceLostKey(database, config, {
      clock: systemClock,
      confirm: async () => {
        if (!yes && !(await confirms())) throw new OperatorError('Nothing was changed.')
      },
    })
    show(report, describeLost(report), json)
  })
}

/** The question goes to standard error: the output is the result alone. */
async function confirms(): Promise<boolean> {
  const lines = createInterface({ input: process.stdin })
  process.stderr.write(
    `This replaces every app secret and signing key for ever: no program that was shipped works any more. Authenticator apps, variables,
secrets of webhooks and shops, and waiting mails are lost. If the key may be found, in a backup made --with-key for example, stop here.
Type ${sureWord} to go on: `,
  )
  try {
    for await (const line of lines) return line.trim() === sureWord
    return false
  } finally {
    lines.close()
    process.stdin.unref?.()
  }
}
