import type { LostKeyReport } from '../modules/description.ts'

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
