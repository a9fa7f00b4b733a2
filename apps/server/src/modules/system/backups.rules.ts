import { hour, minute } from '../../core/clock.ts'
import type { BackupFault } from '../../db/backup.ts'

const retryMs = hour
/** A time that is later than this after now is that of a clock which was wrong. */
const toleranceMs = minute

interface Times {
  /** When the newest scheduled backup was made. */
  madeAt: number | undefined
  failedAt: number | undefined
  now: number
  everyMs: number
}

/** Whether a backup begins: so long after the last one, or sooner after one that failed. */
export function isDue({ madeAt, failedAt, now, everyMs }: Times): boolean {
  const isWithin = (at: number | undefined, ms: number) =>
    at !== undefined && at <= now + toleranceMs && now - at < ms
  return !isWithin(madeAt, everyMs) && !isWithin(failedAt, Math.min(everyMs, retryMs))
}

/** Whether the newest scheduled backup is too old, although none has failed. */
export const isLate = (madeAt: number, everyMs: number, now: number): boolean => now - madeAt > 2 * everyMs

const advice: Record<BackupFault, (directory: string) => string> = {
  space: (directory) =>
    `Free space on the disk of ${directory}, or set BACKUP_DIR to a directory on a larger one.`,
  folder: (directory) =>
    `Let the account of the server write to ${directory}, or set BACKUP_DIR to another directory.`,
  database: () => 'Keep the backups that you have: the database may be damaged. Check the disk.',
  restore: () => 'Keep the backups that you have, and remove the cause that the text names.',
  process: () => 'Look in the log of the system for what ended it; often there is too little memory.',
}

export const adviceOn = (fault: BackupFault, directory: string): string => advice[fault](directory)

/** The newest of the times in the names of backups, in milliseconds since 1970; undefined without a backup. */
export function newestBackup(names: readonly string[], now: number): number | undefined {
  const times = names.flatMap((name) => {
    const [, day, hours, minutes, seconds] =
      /^keyward-(?:scheduled-[0-9a-f]{8}-\d{6,}-)?(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-\d{3}Z\.tar$/.exec(
        name,
      ) ?? []
    const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
    return at <= now + toleranceMs ? [at] : []
  })
  return times.length === 0 ? undefined : Math.max(...times)
}
