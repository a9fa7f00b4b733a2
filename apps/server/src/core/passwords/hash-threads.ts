import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Options } from '@node-rs/argon2'
import type { Evenly } from './compare-hash.ts'

/** A password to hash, or to compare with a stored hash. */
export interface HashTask {
  password: string
  stored?: string
  evenly?: Evenly | undefined
  parameters?: Options
}

export type HashAnswer = { result: string | boolean } | { failure: string }

interface Waiting {
  resolve: (result: never) => void
  reject: (error: Error) => void
}

/**
 * While the server's thread and a hash compete for a core, the hash gets 3 % of the time (10 % at priority 10, 1.4 % at
 * 19). The scheduler grants it milliseconds at once, and requests wait for these.
 */
export const hashingPriority = 15

/** On Linux hashing threads run at low priority and may use all cores; elsewhere one core stays free. */
export const hashesAtOnce = Math.min(
  8,
  Math.max(1, availableParallelism() - (process.platform === 'linux' ? 0 : 1)),
)

/**
 * Hashes on threads outside of libuv's pool, which reads files, and signs while the signing thread is not ready:
 * neither may wait for hashes. Callers bound how many hashes they request at once.
 */
export class HashThreads {
  readonly #idle: Worker[] = []
  readonly #tasks = new Map<Worker, Waiting>()

  hash(password: string, parameters: Options): Promise<string> {
    return this.#run({ password, parameters })
  }

  verify(stored: string, password: string, evenly?: Evenly): Promise<boolean> {
    return this.#run({ stored, password, evenly })
  }

  #run<T>(task: HashTask): Promise<T> {
    const worker = this.#idle.pop() ?? this.#start()
    return new Promise<T>((resolve, reject) => {
      this.#tasks.set(worker, { resolve, reject })
      // Keeps the process alive until the answer; idle threads do not.
      worker.ref()
      worker.postMessage(task)
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./hash-thread.ts', import.meta.url), { workerData: hashingPriority })
    worker.on('message', (answer: HashAnswer) => {
      worker.unref()
      this.#idle.push(worker)
      this.#settle(worker, answer)
    })
    worker.on('error', (error) => this.#settle(worker, { failure: (error as Error).message }))
    worker.on('exit', () => {
      const at = this.#idle.indexOf(worker)
      if (at >= 0) this.#idle.splice(at, 1)
      this.#settle(worker, { failure: 'a thread that hashes passwords has ended' })
    })
    return worker
  }

  #settle(worker: Worker, answer: HashAnswer): void {
    const waiting = this.#tasks.get(worker)
    this.#tasks.delete(worker)
    if ('failure' in answer) waiting?.reject(new Error(answer.failure))
    else waiting?.resolve(answer.result as never)
  }
}
