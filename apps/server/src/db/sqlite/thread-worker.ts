// ADR 14: writes of many rows run on another thread.
import { parentPort, workerData } from 'node:worker_threads'
import { SearchMerges } from '../lists/search-merges.ts'
import { pagesAtMost } from './checkpoints.ts'
import { SqliteHandle } from './handle.ts'
import type { SqliteThreadOptions, ThreadAnswer, ThreadQuery } from './thread.ts'

const { path, readOnly, outside } = workerData as SqliteThreadOptions & { outside: string[] }
const handle = new SqliteHandle(path, { readOnly })
const merges = new SearchMerges(handle.database)
// `CommitGroups` syncs the log after each commit.
if (!readOnly) {
  handle.database.exec(`pragma synchronous = normal; pragma wal_autocheckpoint = ${pagesAtMost}`)
}

parentPort?.on('message', ({ id, text, parameters }: ThreadQuery) => {
  let answer: ThreadAnswer
  const begun = performance.now()
  try {
    // A statement that arrives after SQLite rolled back would run and commit on its own.
    if (!readOnly && !handle.database.isTransaction && !outside.includes(text)) {
      throw new Error('there is no transaction')
    }
    if (text === 'commit') merges.run()
    else if (!readOnly) merges.note(text)
    const { rows, changes } = handle.run(text, parameters)
    answer = { id, result: { rows, changes, ms: performance.now() - begun } }
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    answer = { id, failure: message, errcode, isInTransaction: handle.database.isTransaction }
  }
  parentPort?.postMessage(answer)
})
