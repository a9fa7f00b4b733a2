import { parentPort, workerData } from 'node:worker_threads'
import type { CheckpointNews, CheckpointOrder } from './checkpoints.ts'
import { SqliteHandle } from './sqlite-handle.ts'

/** Pages of 4 KiB after which the log starts anew: before a writing connection would copy it. */
const pagesInLog = 7000

const { database } = new SqliteHandle(workerData as string, { readOnly: false })
// Between two writes, and between two reads, the locks are free for moments only.
database.exec('pragma busy_timeout = 25')

function copy(how: 'noop' | 'passive' | 'restart'): { pages: number; left: number } {
  const { log, checkpointed } = database.prepare(`pragma wal_checkpoint(${how})`).get() ?? {}
  return { pages: Number(log), left: Number(log) - Number(checkpointed) }
}

const report = (news: CheckpointNews) => parentPort?.postMessage(news)

parentPort?.on('message', ({ leastPages }: CheckpointOrder) => {
  try {
    const { pages, left } = copy('noop')
    const isLong = pages >= pagesInLog
    // Under steady writes the log would never end while it is copied, so long transactions wait from here on.
    if (isLong) report('long')
    if (isLong || left >= leastPages) copy('passive')
    // Keeps writers out while it copies the rest, which is little.
    if (isLong) copy('restart')
  } catch {
    // On a full or failing disk, writes report the same.
  }
  report('copied')
})
