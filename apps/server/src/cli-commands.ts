/** A command as it is typed after `keyward`, what it does, and the options that have lines of their own. */
interface Command {
  form: string
  does: readonly string[]
  options?: readonly (readonly [option: string, does: string])[]
}

/** Every command of the command line. A command that is missing here is rejected. */
export const commands: readonly Command[] = [
  {
    form: 'plan <email> premium [--days N]',
    does: [
      'give the vendor with this email the premium plan',
      'for N days from now (default 365, at most 36500)',
    ],
  },
  { form: 'plan <email> premium --forever', does: ['give it without an end'] },
  {
    form: 'plan <email> free',
    does: [
      'take a paid or given plan away; nothing is deleted. The vendor',
      'then has the plan of DEFAULT_PLAN',
    ],
  },
  { form: 'owner list', does: ["list every vendor's account"] },
  { form: 'owner reset-password <email>', does: ['set and print a new password, and end every session'] },
  {
    form: 'owner reset-second-factor <email>',
    does: ['remove the second factor of a person who lost it, and', 'end every session'],
  },
  { form: 'owner sign-out <email>', does: ['end every session of the vendor'] },
  { form: 'reseller reset-password <email>', does: ['set and print a new password, and end every session'] },
  { form: 'reseller reset-second-factor <email>', does: ['the same for a reseller'] },
  { form: 'coupon list', does: ['list the coupons and how often they were used'] },
  {
    form: 'coupon set <code> --percent N',
    does: ['create a coupon of N percent (1 to 99), or change its terms:'],
    options: [
      ['[--from DATE] [--until DATE]', 'when it can be used (2027-01-31, or a date-time)'],
      ['[--uses N] [--uses-per-owner N]', 'how often in total, and per vendor; default: unlimited'],
      ['[--listed]', 'show it to every vendor on the subscription page'],
    ],
  },
  { form: 'coupon end <code>', does: ['end a coupon: no new order can use it'] },
  {
    form: 'outbox [--json]',
    does: ['show how many mails wait, since when, how many of them fail,', 'and how many were given up'],
  },
  {
    form: 'migrate --status [--json]',
    does: [
      'show the version of the database, and the migrations that',
      'the next start runs; change nothing',
    ],
  },
  {
    form: 'backup [file] [--with-key]',
    does: [
      'back up the embedded database to one file (default: a new one',
      'in DATA_DIR/backups), optionally with the key of its secrets',
    ],
  },
  {
    form: 'restore <file>',
    does: ['restore a backup into DATA_DIR and keep the replaced files.', 'The server must be stopped first'],
  },
  {
    form: 'hash <file>',
    does: ["print the hash of a program's build, for its list of allowed hashes"],
  },
  {
    form: 'mcp [--write] [--http PORT]',
    does: [
      'serve agents (Model Context Protocol) on standard input and',
      'output: find licenses and end users, explain refusals. The server',
      'is KEYWARD_URL, the rights are those of KEYWARD_API_KEY',
    ],
    options: [
      ['[--write]', 'let them create, extend, ban, and free devices, too'],
      ['[--http PORT]', 'serve them over HTTP on this machine instead'],
    ],
  },
  { form: '--help', does: ['show this text'] },
  { form: '--version', does: ['show the version'] },
]

const names = new Set(commands.map(({ form }) => form.split(' ')[0]))

export const isCommand = (name: string): boolean => names.has(name)

const line = (left: string, does: string) => `${left.padEnd(44)}${does}`

/** What `keyward --help` says about the commands. */
export const usage: string = commands
  .flatMap(({ form, does: [first = '', ...more], options = [] }) => [
    line(`  keyward ${form}`, first),
    ...more.map((text) => line('', text)),
    ...options.map(([option, text]) => line(`      ${option}`, text)),
  ])
  .join('\n')
