import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { loadSigners, type Signer } from './ed25519.ts'
import { RingReader } from './signing-ring.ts'
import type { NewKey } from './signing-thread.ts'

const port = parentPort as MessagePort
const ring = new RingReader(workerData as SharedArrayBuffer)
const signers = new Map<number, Signer>()
const toSigner = await loadSigners()

const wake = () => port.postMessage('signed')

function receiveKeys(): void {
  for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
    const { forget, number, key } = received.message as NewKey
    if (forget) signers.clear()
    signers.set(number, toSigner(key))
  }
}

function signOrSkip(keyNumber: number, text: Buffer): string | undefined {
  // The server posts a key before its first text, so only an unknown number needs a look at the messages.
  if (!signers.has(keyNumber)) receiveKeys()
  try {
    return signers.get(keyNumber)?.(text)
  } catch {
    return undefined
  }
}

port.postMessage('ready')
for (;;) {
  const [keyNumber, text] = ring.next()
  ring.answer(signOrSkip(keyNumber, text), wake)
}
