import { fdatasyncSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { isSqliteBusy, isSqliteSyncFailure } from '../failure.ts'
import {
  type CheckpointNews,
  type CheckpointOptions,
  type CheckpointOrder,
  manyPagesInLog,
} from './checkpoints.ts'
import { SqliteHandle } from './handle.ts'
import { type CopyKind, LogCopies, type LogState } from './log-copies.ts'

const { path, file } = workerData as CheckpointOptions
const { database } = new SqliteHandle(path, { readOnly: false })
// Between two writes, and between two reads, the locks are free for moments only.
database.exec('pragma busy_timeout = 25')

const report = (news: CheckpointNews) => parentPort?.postMessage(news)

const copies = new LogCopies({
  copy: (how: CopyKind): LogState => {
    const { busy, log, checkpointed } = database.prepare(`pragma wal_checkpoint(${how})`).get() ?? {}
    return { isBusy: busy !== 0, pages: Number(log), copied: Number(checkpointed) }
  },
  syncDatabase,
  writeHeader,
})

/** After a failure the system may have dropped what it could not write, and would report a success the next time. */
function syncDatabase(): void {
  try {
    fdatasyncSync(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    report({ failure: { code } })
    throw error
  }
}

/** By a write that changes nothing, unless another one came first. Nothing waits until it is on disk. */
function writeHeader(): void {
  const { user_version: version } = database.prepare('pragma user_version').get() ?? {}
  database.exec('pragma synchronous = normal')
  try {
    database.exec(`pragma user_version = ${Number(version)}`)
  } catch (error) {
    if (!isSqliteBusy(error)) throw error
  } finally {
    database.exec('pragma synchronous = full')
  }
}

parentPort?.on('message', ({ leastPages }: CheckpointOrder) => {
  let news: CheckpointNews = 'copied'
  try {
    const { pages, isAnew } = copies.run(leastPages, () => report('long'))
    if (!isAnew && pages >= manyPagesInLog) news = 'kept'
  } catch (error) {
    // On a full or failing disk, writes report the same. A failed sync is reported once, also if SQLite made it.
    if (isSqliteSyncFailure(error)) report({ failure: { code: 'EIO' } })
  }
  report(news)
})
