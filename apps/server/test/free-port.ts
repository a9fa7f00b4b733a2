import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/** The system assigns ports from 32768 on; lower ones stay free until a program asks for one by number. */
const [lowest, highest] = [10_240, 32_767]

/** A port for a server that starts later, or starts again, or never: no other process of tests gets it while this one runs. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1))
    if ((await claim(port)) && (await isFree(port))) return port
  }
}

/** Holds the UDP port of the same number until this process ends: nothing else here uses UDP. */
function claim(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const held = createSocket('udp4')
    held.once('error', () => resolve(false))
    held.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      held.unref()
      resolve(true)
    })
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
