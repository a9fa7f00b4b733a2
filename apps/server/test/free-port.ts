import { createServer } from 'node:net'

/** The system assigns ports from 32768 on; lower ones stay free until a program asks for one by number. */
const [lowest, highest] = [10_240, 32_767]

/** A port for a server that starts later, or starts again: no other process gets it by chance in the meantime. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1))
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
