import { Agent, request } from 'node:http'
import type { LoadRequest } from 'autocannon'
import type { Answer } from './processes.ts'

/** One kept-alive connection for sequential requests. */
export class Caller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #baseUrl: string

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  send(call: LoadRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { method, path, headers, body } = call
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = { method, headers: { ...headers, ...length }, agent: this.#agent }
      const sent = request(`${this.#baseUrl}${path}`, options, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const raw = response.rawHeaders
          const headers = raw.flatMap((name, at) =>
            at % 2 === 0 && !nodeHeaders.has(name.toLowerCase())
              ? [[name, raw[at + 1]] as [string, string]]
              : [],
          )
          resolve({ status: response.statusCode ?? 0, headers, body: Buffer.concat(parts).toString() })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  /** The data of a response; throws unless it is a success. */
  async call<Data>(call: LoadRequest): Promise<Data> {
    const { status, body } = await this.send(call)
    if (status >= 300) throw new Error(`${call.method} ${call.path} returned ${status}: ${body}`)
    return JSON.parse(body).data
  }

  close(): void {
    this.#agent.destroy()
  }
}

const nodeHeaders = new Set(['date', 'connection', 'keep-alive'])
