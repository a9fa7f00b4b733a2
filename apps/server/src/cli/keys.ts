import { createInterface } from 'node:readline/promises'
import { systemClock } from '../core/clock.ts'
import { OperatorError } from '../core/operator-error.ts'
import { type RotationReport, rotateKeys } from '../db/key-rotation/rotate.ts'
import { sealedColumnsOf } from '../db/owned-tables.ts'
import type { LostKeyReport } from '../modules/description.ts'
import { replaceLostKey } from '../modules/system/lost-key.operator.ts'
import { command, print, UsageError, withDatabase } from './command.ts'

type KeysOptions = { yes?: boolean; json?: boolean }

const forms = { rotate: 'keys rotate [--json]', lost: 'keys replace-lost [--yes] [--json]' }
/** What the operator types. */
const sureWord = 'replace'

export const keysCommand = command<KeysOptions>({
  name: 'keys',
  forms: [
    {
      form: forms.rotate,
      does: [
        'seal every value with the new secret key, while servers run',
        'that were started with it and the one before; can be repeated',
      ],
    },
    {
      form: forms.lost,
      does: [
        'replace what a lost secret key has sealed, while no server runs.',
        'Licenses and end users stay; every program is shipped again',
      ],
    },
  ],
  options: { yes: { type: 'boolean' }, json: { type: 'boolean' } },
  run(args, options) {
    const [verb, ...more] = args
    if (verb === 'rotate' && more.length === 0 && options.yes === undefined) return rotate(options)
    if (verb === 'replace-lost' && more.length === 0) return replace(options)
    throw new UsageError(`Usage: keyward ${forms.rotate}, or keyward ${forms.lost}`)
  },
})

/** Loaded when they are needed: other commands start faster without them. */
const readModules = async () => (await import('../modules/index.ts')).modules

const show = (report: object, text: string, json: boolean) =>
  print(json ? `${JSON.stringify(report, null, 2)}\n` : text)

function rotate({ json = false }: KeysOptions): Promise<void> {
  return withDatabase(async (database, config) => {
    const tell = (line: string) => process.stderr.write(`${line}\n`)
    const columns = sealedColumnsOf(await readModules())
    const report = await rotateKeys(database, config, { columns, tell })
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
      ? 'Keep the key before: backups made before need it. After a day, run this again, then restart every server without SECRET_KEY_PREVIOUS.\n'
      : `The key before is in ${oldKey}: backups made before need it. After a day, run this again, then move it to where keys are kept.\n`
  return `Sealed ${total} values with the new key.\n${lines.join('')}${lost.join('')}${old}`
}

function replace({ yes = false, json = false }: KeysOptions): Promise<void> {
  return withDatabase(async (database, config) => {
    const report = await replaceLostKey(database, config, {
      modules: await readModules(),
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

/** What `keyward keys replace-lost` prints: what has to be done now, then what was lost. */
export function describeLost(report: LostKeyReport): string {
  const { apps, webhooks, shops, erasures } = report
  return [
    'The database has a new key. Back it up. Licenses, end users, accounts and devices are as before.\n',
    list(
      'Ship the programs of these apps again, with the app secret and public key that the console shows now. Files for offline machines are made again too',
      apps.map(({ appId, name, vendor }) => `${appId} ${name} (${vendor})`),
    ),
    list('Programs of another system need the new secret and public key too', report.otherPrograms),
    list(
      'Paused webhooks: type their addresses again, pass on their new secrets, and turn them on',
      webhooks.map(({ id, origin, vendor }) => `${id} ${origin} (${vendor})`),
    ),
    list(
      'Paused shops: type their secrets again, copy the new address of Gumroad shops, and turn them on',
      shops.map(({ id, name, vendor }) => `${id} ${name} (${vendor})`),
    ),
    list('No authenticator app any more; a password alone signs in until they add one', report.factors),
    list('Apps without variables now', report.appVariables),
    list('Imports that failed', report.imports),
    list('Moves from an old provider that have ended: begin them again', report.lazyMoves),
    list(
      'Erasures whose rest was not looked for: erase what is left of these customers',
      erasures.map(({ customer, vendor }) => `${customer} (${vendor})`),
    ),
    count(report.erasedUnknown, 'erased persons whom a late event of a shop may bring back'),
    count(report.endUserVariables, 'lists of variables of end users'),
    count(report.mails, 'mails that waited'),
    count(report.resetRequests, 'requests for a reset link'),
    count(report.customerSessions, 'sessions of customers'),
    count(report.storedAnswers, 'answers kept for repeated calls'),
    'Recovery codes work no more: people with a passkey renew them.\n',
  ].join('')
}

const list = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`

const count = (n: number, what: string): string => (n === 0 ? '' : `Lost: ${n} ${what}\n`)
