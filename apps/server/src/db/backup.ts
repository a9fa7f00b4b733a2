// Only an embedded database is backed up by the server; PostgreSQL has tools of its own.
export { backUp } from './sqlite/backup/backup.ts'
export { restore } from './sqlite/backup/restore.ts'
export {
  listScheduled,
  newBackupId,
  type RunningBackup,
  removeOldScheduled,
  removeUnfinished,
  type ScheduledBackup,
  startScheduled,
} from './sqlite/backup/scheduled.ts'
export type { BackupFault, BackupResult } from './sqlite/backup/verified.ts'
