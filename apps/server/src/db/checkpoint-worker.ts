import { parentPort, workerData } from 'node:worker_threads'
import { type CheckpointNews, type CheckpointOrder, manyPagesInLog } from './checkpoints.ts'
import { SqliteHandle } from './sqlite-handle.ts'

/** Pages of 4 KiB after which the log starts anew: before a writing connection would copy it. */
const pagesInLog = 7000

/** Short transactions add pages during a copy. At most so many are left to the copy that keeps writers out. */
const fewPages = 32
const copiesMost = 4

/** How long a reader that is in the way is left alone: waiting for it keeps writers out. */
const restMs = 500

const { database } = new SqliteHandle(workerData as string, { readOnly: false })
// Between two writes, and between two reads, the locks are free for moments only.
database.exec('pragma busy_timeout = 25')

function copy(how: 'noop' | 'passive' | 'restart') {
  const { busy, log, checkpointed } = database.prepare(`pragma wal_checkpoint(${how})`).get() ?? {}
  return { isBusy: busy !== 0, pages: Number(log), copied: Number(checkpointed) }
}

/** Copies again what is added meanwhile, until little is left. Returns how many pages are copied. */
function copyMost(): number {
  for (let copies = 1; ; copies += 1) {
    const { copied } = copy('passive')
    if (copies === copiesMost || copy('noop').pages - copied <= fewPages) return copied
  }
}

let blockedAt = Number.NEGATIVE_INFINITY

/** Keeps writers out while it copies the rest, which is little, and waits for readers. False if one stays. */
function startAnew(): boolean {
  const now = performance.now()
  if (now - blockedAt < restMs) return false
  const { isBusy } = copy('restart')
  if (isBusy) blockedAt = now
  return !isBusy
}

const report = (news: CheckpointNews) => parentPort?.postMessage(news)

parentPort?.on('message', ({ leastPages }: CheckpointOrder) => {
  let news: CheckpointNews = 'copied'
  try {
    const { pages, copied: copiedBefore } = copy('noop')
    const isLong = pages >= pagesInLog
    // Under steady writes the log would never end while it is copied, so long transactions wait from here on.
    if (isLong) report('long')
    const isDue = isLong || pages - copiedBefore >= leastPages
    const copied = isLong ? copyMost() : isDue ? copy('passive').copied : copiedBefore
    // Less was copied than there was before if a reader needs an older state.
    const isAnew = isLong && copied >= pages && startAnew()
    if (!isAnew && pages >= manyPagesInLog) news = 'kept'
  } catch {
    // On a full or failing disk, writes report the same.
  }
  report(news)
})
