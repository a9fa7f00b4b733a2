import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer } from './processes.ts'

let answers: Record<string, Answer> = {}

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    Buffer.concat(parts)
    const answer = answers[request.url ?? '']
    response.writeHead(answer?.status ?? 404, answer?.headers.flat() ?? [])
    response.end(answer?.body)
  })
})

process.once('message', (message) => {
  answers = message as Record<string, Answer>
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
})
