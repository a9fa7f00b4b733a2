import { z } from 'zod'
import { type BackupFault, newBackupId } from '../../db/backup.ts'
import type { Db } from '../../db/index.ts'
import { putMeta, readMeta } from '../../db/meta.ts'

const name = 'scheduled_backups'
const faults = ['space', 'folder', 'database', 'restore', 'process'] as const satisfies BackupFault[]

const schema = z.object({
  /** Tells the files of this installation from those of others. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  /** The last attempt, if it failed. */
  failure: z
    .object({ since: z.number(), at: z.number(), fault: z.enum(faults), reason: z.string() })
    .nullable(),
  /** When the last mail about a failure was sent. */
  toldAt: z.number().nullable(),
  /** That mail is the last one: none has said since that backups work again. */
  isTold: z.boolean(),
})

/** What is remembered of scheduled backups, besides their files. */
export type BackupState = z.output<typeof schema>

export const newState = (): BackupState => ({ id: newBackupId(), failure: null, toldAt: null, isTold: false })

/** Undefined if nothing was stored, or nothing that this version can read. */
export async function readBackupState(db: Db): Promise<BackupState | undefined> {
  const text = await readMeta(db, name)
  try {
    return schema.parse(JSON.parse(text ?? ''))
  } catch {
    return undefined
  }
}

export const putBackupState = (db: Db, state: BackupState): Promise<void> =>
  putMeta(db, name, JSON.stringify(state))
