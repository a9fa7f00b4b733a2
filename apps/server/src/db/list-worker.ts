import { parentPort, workerData } from 'node:worker_threads'
import type { ListThreadAnswer, ListThreadQuery } from './list-thread.ts'
import { SqliteHandle } from './sqlite-handle.ts'

const handle = new SqliteHandle(workerData as string, { readOnly: true })

parentPort?.on('message', ({ id, text, parameters }: ListThreadQuery) => {
  let answer: ListThreadAnswer
  try {
    answer = { id, rows: handle.prepare(text).all(...parameters) }
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    answer = { id, failure: message, errcode }
  }
  parentPort?.postMessage(answer)
})
