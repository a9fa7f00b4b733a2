import { type Config, readConfig } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { OperatorError } from '../core/operator-error.ts'
import { backUp, restore } from '../db/backup.ts'
import { toMegabytes } from '../db/disk-room.ts'
import { command, print, UsageError } from './command.ts'

export const backupCommand = command<{ 'with-key'?: boolean }>({
  name: 'backup',
  forms: [
    {
      form: 'backup [file] [--with-key]',
      does: [
        'back up the embedded database to one file (default: a new one',
        'in BACKUP_DIR), optionally with the key of its secrets',
      ],
    },
  ],
  options: { 'with-key': { type: 'boolean' } },
  run: (args, { 'with-key': withKey = false }) =>
    print(backUpTo(readConfig(process.env), args, withKey, systemClock.now())),
})

export const restoreCommand = command({
  name: 'restore',
  forms: [
    {
      form: 'restore <file>',
      does: [
        'restore a backup into DATA_DIR and keep the replaced files.',
        'The server must be stopped first',
      ],
    },
  ],
  run: (args) => print(restoreFrom(readConfig(process.env), args, systemClock.now())),
})

/** Returns what to print. */
function backUpTo(config: Config, [file, ...more]: string[], withKey: boolean, now: number): string {
  if (more.length > 0) throw new UsageError('Usage: keyward backup [file] [--with-key]')
  refusePostgres(config, 'Back PostgreSQL up with pg_dump')
  const { path, bytes, schema, foreign, sha256 } = inOneLine('The backup', () =>
    backUp(config, { file, withKey, now }),
  )
  const key = withKey
    ? 'It contains the key that decrypts its secrets: protect it like a password.'
    : 'It does not contain the key: keep secret.key, or SECRET_KEY, in another place.'
  const warning = foreign
    ? `Warning: a restore refuses it, because Keyward did not make the ${foreign.type} "${foreign.name}": drop it, then repeat this.\n`
    : ''
  return `${path}\n${toMegabytes(bytes)} MB, schema ${schema.at(-1)}, sha256 of the database ${sha256}\n${key}\n${warning}`
}

/** Returns what to print. */
function restoreFrom(config: Config, [file, ...more]: string[], now: number): string {
  if (file === undefined || more.length > 0) throw new UsageError('Usage: keyward restore <file>')
  refusePostgres(config, 'Restore PostgreSQL with pg_restore')
  const { createdAt, replaced } = inOneLine('The restore', () => restore(config, { file, now }))
  const of =
    createdAt === undefined ? 'a plain database file, which has no checksum' : `the backup of ${createdAt}`
  const kept = replaced === undefined ? '' : `What was there before is in ${replaced}\n`
  return `Restored ${of} into ${config.dataDir}\n${kept}`
}

function refusePostgres(config: Config, alternative: string): void {
  if (config.databaseUrl === undefined) return
  throw new OperatorError(
    `This command is for the embedded database. ${alternative}: docs/operations.md shows how.`,
  )
}

/** Reports errors of the disk or the database in one line; other errors are bugs and keep their stack. */
function inOneLine<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { errcode, syscall, message } = error as Error & { errcode?: number; syscall?: string }
    if (error instanceof OperatorError || (errcode === undefined && syscall === undefined)) throw error
    throw new OperatorError(`${what} failed, and nothing was changed: ${message}.`)
  }
}
