import { ownerCommand, resellerCommand } from './account.ts'
import { backupCommand, restoreCommand } from './backup.ts'
import type { Command, Form } from './command.ts'
import { couponCommand } from './coupon.ts'
import { doctorCommand } from './doctor.ts'
import { hashCommand } from './hash.ts'
import { keysCommand } from './keys.ts'
import { mcpCommand } from './mcp.ts'
import { migrateCommand } from './migrate.ts'
import { moveCommand } from './move.ts'
import { outboxCommand } from './outbox.ts'
import { planCommand } from './plan.ts'
import { releaseCommand } from './release.ts'

/** Every command of the command line, in the order of its help. */
export const commands: readonly Command[] = [
  planCommand,
  ownerCommand,
  resellerCommand,
  couponCommand,
  outboxCommand,
  migrateCommand,
  doctorCommand,
  keysCommand,
  backupCommand,
  restoreCommand,
  moveCommand,
  hashCommand,
  releaseCommand,
  mcpCommand,
]

/** Every way to type a command. */
export const forms: readonly Form[] = [
  ...commands.flatMap((command) => command.forms),
  { form: '--help', does: ['show this text'] },
  { form: '--version', does: ['show the version'] },
]

const line = (left: string, does: string) => `${left.padEnd(47)}${does}`

/** What `keyward --help` says about the commands. */
export const usage: string = forms
  .flatMap(({ form, does: [first = '', ...more], options = [] }) => [
    line(`  keyward ${form}`, first),
    ...more.map((text) => line('', text)),
    ...options.map(([option, text]) => line(`      ${option}`, text)),
  ])
  .join('\n')
