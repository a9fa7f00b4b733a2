import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface AdapterError {
  kind: 'network' | 'signature' | 'usage'
  code: string
  status?: number
  retryAfterMs?: number
  outcomeUnknown?: boolean
  offline?: string
}

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the operation
  [name: string]: any
  error?: AdapterError
}

export interface CallRequest {
  id: string
  method: string
  args?: unknown[]
  /** Starts this call when the file exists. */
  after?: string
}

interface Waiting {
  resolve: (answer: Answer) => void
  reject: (error: Error) => void
  timer: NodeJS.Timeout
}

const stopMs = 10_000

/** A running program of one SDK, asked by lines of JSON. */
export class Adapter {
  /** The user's data folder of the program; removed when it stops. */
  readonly folder: string
  readonly #isOwnFolder: boolean
  readonly #child: ChildProcess
  readonly #waiting: Waiting[] = []
  #errors = ''
  #ended: string | undefined

  private constructor(child: ChildProcess, folder: string, isOwnFolder: boolean) {
    this.folder = folder
    this.#isOwnFolder = isOwnFolder
    this.#child = child
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-4_000)
    })
    let rest = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) this.#receive(line)
    })
    child.stdin!.on('error', () => {})
    child.on('error', (error) => this.#end(String(error)))
    child.on('close', (code, signal) => this.#end(`It ended with ${signal ?? code}`))
  }

  /** Starts a program. `folder` is shared by programs that keep the same data; by default it is a new one. */
  static async start([file, ...args]: string[], { folder = '', env = {} } = {}): Promise<Adapter> {
    const own = folder === '' ? await mkdtemp(join(tmpdir(), 'keyward-adapter-')) : folder
    const child = spawn(file!, args, {
      stdio: 'pipe',
      env: {
        PATH: process.env.PATH,
        PYTHONDONTWRITEBYTECODE: '1',
        HOME: own,
        XDG_STATE_HOME: own,
        LOCALAPPDATA: own,
        ...env,
      },
    })
    return new Adapter(child, own, folder === '')
  }

  /** Sends one request; answers come in the order of the requests. */
  ask(request: object, { timeoutMs = 110_000 } = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#failure(this.#ended))
      const timer = setTimeout(() => {
        this.#end(`No answer within ${timeoutMs} ms to ${JSON.stringify(request).slice(0, 500)}`)
        this.#child.kill('SIGKILL')
      }, timeoutMs)
      this.#waiting.push({ resolve, reject, timer })
      // Some programs take these two for the end of a line.
      const line = JSON.stringify(request).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
      this.#child.stdin!.write(`${line}\n`)
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Creates a client and fails unless that succeeds. */
  async open(id: string, options: object, now?: number): Promise<void> {
    const answer = await this.ask({ op: 'new', id, options, ...(now === undefined ? {} : { now }) })
    if (answer.ok !== true) throw new Error(`new: ${JSON.stringify(answer)}`)
  }

  /** Calls a method of a client: `{ result }` or `{ error }`. */
  call(id: string, method: string, ...args: unknown[]): Promise<Answer> {
    return this.ask({ op: 'call', id, method, args })
  }

  /** Calls several methods at the same time. */
  async together(calls: CallRequest[]): Promise<Answer[]> {
    const answer = await this.ask({ op: 'together', calls: calls.map((call) => ({ args: [], ...call })) })
    return answer.results
  }

  /** Ends the input and resolves to the exit code; kills a program that does not end. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const closed = once(this.#child, 'close')
      this.#child.stdin!.end()
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopMs)
      await closed
      clearTimeout(timer)
    }
    if (this.#isOwnFolder) await rm(this.folder, { recursive: true, force: true })
    return this.#child.exitCode
  }

  #receive(line: string): void {
    const waiting = this.#waiting.shift()
    if (!waiting) {
      this.#end(`It wrote a line without a request: ${line.slice(0, 500)}`)
      return
    }
    clearTimeout(waiting.timer)
    try {
      waiting.resolve(JSON.parse(line))
    } catch {
      waiting.reject(this.#failure(`It wrote a line that is not JSON: ${line.slice(0, 500)}`))
    }
  }

  #end(reason: string): void {
    this.#ended ??= reason
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer)
      reject(this.#failure(this.#ended))
    }
  }

  #failure(reason: string): Error {
    return new Error(`The adapter failed. ${reason}\n${this.#errors}`)
  }
}
