import type { KeyObject } from 'node:crypto'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { signNow } from './signing.ts'
import { RingReader } from './signing-ring.ts'
import type { NewKey } from './signing-thread.ts'

const port = parentPort as MessagePort
const ring = new RingReader(workerData as SharedArrayBuffer)
const keys = new Map<number, KeyObject>()

const wake = () => port.postMessage('signed')

function receiveKeys(): void {
  for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
    const { forget, number, key } = received.message as NewKey
    if (forget) keys.clear()
    keys.set(number, key)
  }
}

function signOrSkip(keyNumber: number, text: Buffer): string | undefined {
  // Only a new number is looked for in the messages: the server posts a key before its first text.
  if (!keys.has(keyNumber)) receiveKeys()
  const key = keys.get(keyNumber)
  try {
    return key && signNow(text, key)
  } catch {
    return undefined
  }
}

port.postMessage('ready')
for (;;) {
  const [keyNumber, text] = ring.next()
  ring.answer(signOrSkip(keyNumber, text), wake)
}
