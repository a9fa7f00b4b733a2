import { connect, createServer } from 'node:net'

export interface BreakingGate {
  /** The same database, through the gate. */
  url: string
  /** How many more connections it breaks. */
  arm(breaks?: number): void
  /** How many connections it broke. */
  broken(): number
  close(): void
}

/**
 * Forwards to the database; once armed, breaks a connection over which a client sends `text`: before the text arrives,
 * after the response to it, or while PostgreSQL works on it.
 */
export async function openBreakingGate(
  direct: URL,
  text: string,
  when: 'before' | 'after' | 'during',
): Promise<BreakingGate> {
  let [left, broken] = [0, 0]
  const server = createServer((near) => {
    const far = connect({ host: direct.hostname, port: Number(direct.port) })
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) socket.on('error', () => {}).on('close', end)
    let isBreaking = false
    near.on('data', (chunk) => {
      if (left > 0 && chunk.includes(text)) {
        isBreaking = true
        left -= 1
        broken += 1
      }
      if (isBreaking && when === 'before') return end()
      far.write(chunk)
      if (!isBreaking || when !== 'during') return
      near.destroy()
    })
    far.on('data', (chunk) => {
      if (isBreaking) end()
      else near.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: Object.assign(new URL(direct), { hostname: '127.0.0.1', port: String(port) }).toString(),
    arm: (breaks = 1) => {
      left = breaks
    },
    broken: () => broken,
    close: () => server.close(),
  }
}
