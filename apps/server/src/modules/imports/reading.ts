import { Worker } from 'node:worker_threads'
import type { ImportMapping, ImportPreset } from '@keyward/contract'
import type { LinkedRow } from './linked-rows.ts'
import { type Question, UnreadableFiles } from './rows.ts'

/** What the reading thread starts with; the texts of the files follow in parts. */
export interface ReadTask {
  preset: ImportPreset
  mapping: ImportMapping
  answers: Record<string, string>
  files: string[]
  rowsAtOnce: number
  /** Milliseconds since 1970. */
  now: number
}

export type ReadAnswer =
  | { count: number; questions: Question[] }
  | { unreadable: string }
  | { rows: LinkedRow[] }

/** 64 MiB of JSON become several times as many bytes. */
const megabytesMost = 2048

/** Reads files on a thread of its own: other requests must not wait while large ones are parsed. */
export class Reading {
  readonly #worker: Worker
  readonly #task: ReadTask
  #waiting: PromiseWithResolvers<ReadAnswer> | undefined
  #failure: Error | undefined

  constructor(task: ReadTask) {
    this.#task = task
    this.#worker = new Worker(new URL('./reading-thread.ts', import.meta.url), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: megabytesMost },
    })
    this.#worker.on('message', (answer: ReadAnswer) => this.#waiting?.resolve(answer))
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      this.#fail(isMemory ? new UnreadableFiles('The files need too much memory. Please split them.') : error)
    })
    this.#worker.on('exit', () => this.#fail(new Error('the thread that reads files has ended')))
  }

  /** Adds a part of a file's text. */
  add(file: number, text: string): void {
    this.#worker.postMessage({ file, text })
  }

  async read(): Promise<{ count: number; questions: Question[] }> {
    const answer = await this.#ask('read')
    if ('unreadable' in answer) throw new UnreadableFiles(answer.unreadable)
    return answer as { count: number; questions: Question[] }
  }

  /** The next rows; fewer than asked for at the end. */
  async next(): Promise<LinkedRow[]> {
    const answer = await this.#ask('next')
    return 'rows' in answer ? answer.rows : []
  }

  get rowsAtOnce(): number {
    return this.#task.rowsAtOnce
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  /** Ends it early: who waits for an answer gets the error. */
  stop(error: Error): void {
    this.#fail(error)
    void this.#worker.terminate()
  }

  #ask(what: 'read' | 'next'): Promise<ReadAnswer> {
    if (this.#failure) return Promise.reject(this.#failure)
    this.#waiting = Promise.withResolvers()
    this.#worker.postMessage(what)
    return this.#waiting.promise
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#waiting?.reject(this.#failure)
  }
}
