import { parentPort, workerData } from 'node:worker_threads'
// Each import starts this thread, which loads no more of the contract than it needs: all of it takes half of a start.
import { limits } from '@keyward/contract/constants'
import { linkRows } from './linked-rows.ts'
import { readFiles } from './presets/read-files.ts'
import type { ReadAnswer, ReadTask } from './reading.ts'
import { UnreadableFiles } from './rows.ts'

const port = parentPort
if (!port) throw new Error('this is a thread of the server')

const { rowsAtOnce, now, ...input } = workerData as ReadTask
const answer = (message: ReadAnswer) => port.postMessage(message)

const contents = input.files.map(() => [] as string[])
port.on('message', (message: { file: number; text: string } | 'read' | 'next') => {
  if (message === 'read') read()
  else if (message === 'next') next()
  else contents[message.file]?.push(message.text)
})

let rows: ReturnType<typeof linkRows> = []
let at = 0

function read(): void {
  try {
    const files = input.files.map((name, file) => ({ name, content: contents[file]?.join('') ?? '' }))
    contents.length = 0
    const found = readFiles({ ...input, files }, now)
    if (found.rows.length > limits.importedRowsMax)
      throw new UnreadableFiles(`The files have more than ${limits.importedRowsMax} rows`)
    rows = linkRows(found.rows)
    answer({ count: rows.length, questions: found.questions })
  } catch (error) {
    if (!(error instanceof UnreadableFiles)) throw error
    answer({ unreadable: error.message })
  }
}

function next(): void {
  answer({ rows: rows.slice(at, at + rowsAtOnce) })
  at += rowsAtOnce
}
