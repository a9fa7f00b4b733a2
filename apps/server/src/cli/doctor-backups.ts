import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { day, systemClock, toIso } from '../core/clock.ts'
import { type Finding, failure, fine, warning } from '../core/finding.ts'
import { listScheduled } from '../db/backup.ts'
import type { Database } from '../db/index.ts'
import { type BackupState, readBackupState } from '../modules/system/backup-state.ts'
import { adviceOn, isLate, newestBackup } from '../modules/system/backups.rules.ts'

const schedule = 'Set BACKUP_EVERY=24 and BACKUP_MAIL, or run keyward backup by a schedule of your own.'

export async function checkBackups({ db }: Pick<Database, 'db'>, config: Config): Promise<Finding[]> {
  const { everyMs, mailTo } = config.backups
  if (config.databaseUrl !== undefined) return [fine('The database server has backups of its own.')]
  if (everyMs === 0) return [await checkNewest(config)]
  const finding = await checkSchedule(config, await readBackupState(db))
  return mailTo === undefined
    ? [finding, warning('Nobody is told when a backup fails.', 'Set BACKUP_MAIL to your address.')]
    : [finding]
}

async function checkNewest({ backups: { directory } }: Config): Promise<Finding> {
  const now = systemClock.now()
  const newest = newestBackup(existsSync(directory) ? await readdir(directory) : [], now)
  if (newest === undefined) return warning(`No backup is in ${directory}, and none is scheduled.`, schedule)
  const text = `The newest backup in ${directory} is of ${toIso(newest)}.`
  return now - newest > 2 * day ? warning(text, schedule) : fine(text)
}

async function checkSchedule({ backups }: Config, state: BackupState | undefined): Promise<Finding> {
  const { directory, everyMs } = backups
  if (state?.failure) {
    const { fault, since, reason } = state.failure
    return failure(
      `Scheduled backups have failed since ${toIso(since)}: ${reason}`,
      adviceOn(fault, directory),
    )
  }
  const [newest] = state ? await listScheduled(directory, state.id) : []
  if (!newest)
    return warning(
      `No scheduled backup is in ${directory} yet.`,
      'Start the server: it makes one soon after its start.',
    )
  const text = `The newest scheduled backup is of ${toIso(newest.madeAt)}.`
  return isLate(newest.madeAt, everyMs, systemClock.now())
    ? failure(`${text} BACKUP_EVERY is ${everyMs / 3_600_000} h.`, 'Start the server, and look in its log.')
    : fine(text)
}
