// ADR 14: a third thread copies the log into the database.
import { parentPort, workerData } from 'node:worker_threads'
import { isSqliteSyncFailure } from '../failure.ts'
import { type CheckpointNews, type CheckpointOrder, manyPagesInLog } from './checkpoints.ts'
import { SqliteHandle } from './handle.ts'
import { type CopyKind, LogCopies, type LogState } from './log-copies.ts'

const { database } = new SqliteHandle(workerData as string, { readOnly: false })
// Between two writes, and between two reads, the locks are free for moments only.
database.exec('pragma busy_timeout = 25')

const report = (news: CheckpointNews) => parentPort?.postMessage(news)

const copies = new LogCopies((how: CopyKind): LogState => {
  const { busy, log, checkpointed } = database.prepare(`pragma wal_checkpoint(${how})`).get() ?? {}
  return { isBusy: busy !== 0, pages: Number(log), copied: Number(checkpointed) }
})

parentPort?.on('message', ({ leastPages }: CheckpointOrder) => {
  let news: CheckpointNews = 'copied'
  try {
    const { pages, isAnew } = copies.run(leastPages, () => report('long'))
    if (!isAnew && pages >= manyPagesInLog) news = 'kept'
  } catch (error) {
    // On a full or failing disk, writes report the same. A failed sync is reported once: the system may have dropped
    // what it could not write, and would report a success the next time.
    if (isSqliteSyncFailure(error)) report({ failure: { code: 'EIO' } })
  }
  report(news)
})
