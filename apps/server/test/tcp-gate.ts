import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that can freeze, drop or refuse connections. */
export interface Gate {
  port: number
  /** The number of open connections. */
  open(): number
  /** Stops forwarding in both directions; connections stay open and new ones are accepted. */
  freeze(): void
  /** Resumes forwarding, held bytes first. */
  thaw(): void
  /** Drops everything on the existing connections from now on; new ones work. */
  swallow(): void
  /** Delivers the responses on the existing connections this much later. */
  delay(ms: number): void
  /** Closes every connection and refuses new ones. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

export async function openGate(to: { host: string; port: number }): Promise<Gate> {
  const pairs = new Set<[Socket, Socket]>()
  let isFrozen = false
  let isCut = false
  const join = ([near, far]: [Socket, Socket]) => {
    near.pipe(far)
    far.pipe(near)
  }
  const part = ([near, far]: [Socket, Socket]) => {
    for (const socket of [near, far]) {
      socket.unpipe()
      socket.pause()
    }
  }
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const pair: [Socket, Socket] = [near, connect(to)]
    pairs.add(pair)
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.once('close', () => {
        pairs.delete(pair)
        for (const half of pair) half.destroy()
      })
    }
    if (!isFrozen) join(pair)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    open: () => pairs.size,
    freeze() {
      isFrozen = true
      for (const pair of pairs) part(pair)
    },
    thaw() {
      isFrozen = false
      for (const pair of pairs) join(pair)
    },
    swallow() {
      for (const pair of pairs) part(pair)
    },
    delay(ms) {
      for (const [near, far] of pairs) {
        far.unpipe(near)
        far.on('data', (bytes: Buffer) => setTimeout(() => near.write(bytes), ms))
        far.resume()
      }
    },
    cut() {
      isCut = true
      for (const [near] of pairs) near.destroy()
    },
    mend() {
      isCut = false
    },
    async close() {
      for (const [near] of pairs) near.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
