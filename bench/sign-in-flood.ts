import { connect } from 'node:net'
import { argv } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

// One customer's /56 that tries passwords on 400 connections, in a process of its own.

const [port = '', delay = ''] = argv.slice(2)
const delayMs = Number(delay)
const connections = 400
const counted: Record<string, number> = {}
const count = (what: string) => {
  counted[what] = (counted[what] ?? 0) + 1
}

/** Raw bytes: a client that parses answers would be slower than the server that refuses. */
function attack(connection: number): void {
  let round = 0
  const socket = connect(Number(port), '127.0.0.1').setNoDelay()
  const send = () => {
    const body = JSON.stringify({ email: `s${connection}-${round++}@example.com`, password: 'flood flood' })
    socket.write(
      `POST /api/auth/login HTTP/1.1\r\nhost: 127.0.0.1\r\nx-forwarded-for: 2001:db8:0:${(connection % 256).toString(16)}::${connection}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
  }
  const retry = async () => {
    if (delayMs > 0) await sleep(delayMs)
    if (socket.destroyed) attack(connection)
    else send()
  }
  let isOver = false
  socket.on('connect', send)
  socket.on('data', (chunk) => {
    const answer = chunk.toString('latin1')
    if (!answer.startsWith('HTTP/1.1 ')) return
    count(answer.slice(9, 12))
    isOver = /\r\nconnection: close\r\n/i.test(answer)
    if (!isOver) void retry()
  })
  socket.on('error', () => count('broken'))
  socket.on('close', () => {
    if (!isOver) count('closed')
    void retry()
  })
}

for (let connection = 0; connection < connections; connection += 1) attack(connection)
process.once('message', () => process.send?.(counted, () => process.exit()))
