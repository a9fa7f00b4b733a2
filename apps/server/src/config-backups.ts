import { join, resolve } from 'node:path'
import { z } from 'zod'
import { hour } from './core/clock.ts'

export const backupVariables = {
  BACKUP_EVERY: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a number of hours')
    .transform(Number)
    .refine((hours) => hours <= 8760, 'must be at most 8760')
    .default(0),
  BACKUP_KEEP: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a number of backups')
    .transform(Number)
    .refine((count) => count >= 1 && count <= 1000, 'must be between 1 and 1000')
    .default(7),
  BACKUP_DIR: z.string().min(1).optional(),
  BACKUP_MAIL: z.email('must be an address').optional(),
}

interface Values {
  BACKUP_EVERY: number
  BACKUP_KEEP: number
  BACKUP_DIR?: string | undefined
  BACKUP_MAIL?: string | undefined
}

export interface BackupConfig {
  /** The time between two scheduled backups; 0 for none. */
  everyMs: number
  /** How many scheduled backups are kept. */
  keep: number
  directory: string
  /** The address that failures of scheduled backups are mailed to. */
  mailTo: string | undefined
}

/** By default failures are mailed to the sender's address, if `MAIL_FROM` is set. */
export function backupsOf(values: Values, dataDir: string, mailFrom: string | undefined): BackupConfig {
  return {
    everyMs: values.BACKUP_EVERY * hour,
    keep: values.BACKUP_KEEP,
    directory: values.BACKUP_DIR === undefined ? join(dataDir, 'backups') : resolve(values.BACKUP_DIR),
    mailTo: values.BACKUP_MAIL ?? (mailFrom === undefined ? undefined : addressOf(mailFrom)),
  }
}

/** The address of a sender, which may be a name and `<address>`. */
export const addressOf = (from: string): string => /<([^<>]+)>$/.exec(from)?.[1] ?? from
