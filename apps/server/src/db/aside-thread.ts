import { parentPort, workerData } from 'node:worker_threads'
import type { AsideAnswer, AsideQuestion } from './aside.ts'
import { SqliteHandle } from './sqlite.ts'

const handle = new SqliteHandle(workerData as string, { readOnly: true })

parentPort?.on('message', ({ id, text, parameters }: AsideQuestion) => {
  let answer: AsideAnswer
  try {
    answer = { id, rows: handle.prepare(text).all(...parameters) }
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    answer = { id, failure: message, errcode }
  }
  parentPort?.postMessage(answer)
})
