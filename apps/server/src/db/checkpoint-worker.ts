import { parentPort, workerData } from 'node:worker_threads'
import { SqliteHandle } from './sqlite-handle.ts'

/** Pages of 4 KiB after which the log starts anew: before the writing connection would copy it. */
const pagesInLog = 5000

const { database } = new SqliteHandle(workerData as string, { readOnly: false })
// Between two writes, and between two reads, the locks are free for moments only.
database.exec('pragma busy_timeout = 25')

const copy = (how: 'passive' | 'restart') =>
  Number(database.prepare(`pragma wal_checkpoint(${how})`).get()?.log)

parentPort?.on('message', () => {
  try {
    // Under steady writes the log never ends while it is copied. A restart keeps writers out while it copies the rest.
    if (copy('passive') >= pagesInLog) copy('restart')
  } catch {
    // On a full or failing disk, writes report the same.
  }
  parentPort?.postMessage('copied')
})
