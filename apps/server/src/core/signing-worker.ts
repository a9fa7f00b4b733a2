import type { KeyObject } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { signNow } from './signing.ts'
import type { SignBatch, SignedBatch } from './signing-thread.ts'

let keys = new Map<number, KeyObject>()

parentPort?.on('message', ({ id, forget, newKeys, keyNumbers, bases }: SignBatch) => {
  if (forget) keys = new Map()
  for (const [number, key] of newKeys) keys.set(number, key)
  const signatures = bases.map((base, at) => {
    const key = keys.get(keyNumbers[at] ?? -1)
    try {
      return key && signNow(base, key)
    } catch {
      return undefined
    }
  })
  parentPort?.postMessage({ id, signatures } satisfies SignedBatch)
})
parentPort?.postMessage('ready')
