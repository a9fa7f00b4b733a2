import { Agent, request } from 'node:http'
import type { LoadRequest } from 'autocannon'
import type { Answer } from './processes.ts'

/** One connection that is kept open, for calls one after the other. */
export class Caller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #baseUrl: string

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  send(given: LoadRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { method, path, headers, body } = given
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = { method, headers: { ...headers, ...length }, agent: this.#agent }
      const sent = request(`${this.#baseUrl}${path}`, options, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const raw = response.rawHeaders
          const headers = raw.flatMap((name, at) =>
            at % 2 === 0 && !byNode.has(name.toLowerCase()) ? [[name, raw[at + 1]] as [string, string]] : [],
          )
          resolve({ status: response.statusCode ?? 0, headers, body: Buffer.concat(parts).toString() })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  /** The data of an answer that must be a success. */
  async call<Data>(given: LoadRequest): Promise<Data> {
    const { status, body } = await this.send(given)
    if (status >= 300) throw new Error(`${given.method} ${given.path} was answered with ${status}: ${body}`)
    return JSON.parse(body).data
  }

  close(): void {
    this.#agent.destroy()
  }
}

const byNode = new Set(['date', 'connection', 'keep-alive'])
