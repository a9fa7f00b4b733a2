import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { hashSync } from '@node-rs/argon2'
import { compareHash } from './compare-hash.ts'
import type { HashAnswer, HashTask } from './hash-threads.ts'

// On Linux each thread has its own priority, so hashing yields to requests and signatures. Elsewhere this call would
// slow down the whole process. A server that was started at an even lower priority keeps that one.
if (process.platform === 'linux') setPriority(Math.max(getPriority(), workerData as number))

parentPort?.on('message', ({ password, stored, evenly, parameters }: HashTask) => {
  let answer: HashAnswer
  try {
    answer = {
      result: stored === undefined ? hashSync(password, parameters) : compareHash(stored, password, evenly),
    }
  } catch (error) {
    answer = { failure: (error as Error).message }
  }
  parentPort?.postMessage(answer)
})
