import { parentPort, workerData } from 'node:worker_threads'
import type { AsideAnswer, AsideQuestion } from './aside.ts'
import { SqliteHandle } from './sqlite.ts'

const handle = new SqliteHandle(workerData as string, { readOnly: true })

parentPort?.on('message', ({ id, text, parameters }: AsideQuestion) => {
  let answer: AsideAnswer
  try {
    answer = { id, rows: handle.prepare(text).all(...parameters) }
  } catch (error) {
    answer = { id, failure: (error as Error).message }
  }
  parentPort?.postMessage(answer)
})
