import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { runKeyward } from './command-line.ts'
import { type ProgramApp, signed, signInProgram } from './program-process.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

const callers = 2
const expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString()

/** An installation that is served while it is moved, and what its callers were told. */
export class ServedInstallation {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'keyward-served-'))
  server!: ServerProcess
  token = ''
  app!: ProgramApp
  /** Ids of licenses by the key of the call that made them; undefined without an answer. */
  readonly licenses = new Map<string, string | undefined>()
  /** Whether the deletion of a license was acknowledged. */
  readonly deletions = new Map<string, boolean>()
  readonly sessions: Record<string, string>[] = []
  checks = 0
  /** What the current move has written to standard error. */
  moveSaid = ''
  #isLoading = false
  #loading: Promise<unknown> = Promise.resolve()

  async start(): Promise<void> {
    this.server = await startProcess({ DATA_DIR: this.dataDir, DEFAULT_PLAN: 'premium' })
    if (this.token !== '') return
    const account = { email: 'ann@example.com', password: 'correct horse', name: 'Ann' }
    this.token = (await this.#call('/auth/register', account)).json.data.token
    this.app = (await this.#call('/apps', { name: 'Served' })).json.data.app
  }

  #call(path: string, body: object, headers: Record<string, string> = {}) {
    const { token } = this
    return callOver(this.server.url, 'POST', path, { ...(token && { token }), body, headers })
  }

  /** Makes a license; repeated with its key, it makes none. */
  async makeLicense(key: string = randomUUID()) {
    this.licenses.set(key, this.licenses.get(key))
    const body = { app: this.app._id, expiresAt }
    const answer = await this.#call('/licenses', body, { 'idempotency-key': key })
    if (answer.status === 201) this.licenses.set(key, answer.json.data.license._id)
    return answer
  }

  /** Every caller repeats its calls until `endLoad`; one that gets no answer goes on. */
  load(): void {
    this.#isLoading = true
    const repeat = async (work: (turn: number) => Promise<unknown>) => {
      for (let turn = 0; this.#isLoading; turn += 1) await work(turn).catch(() => pause(20))
    }
    const loops = Array.from({ length: callers }, (_, at) => [
      repeat((turn) => this.#makeAndDelete(turn)),
      repeat((turn) => this.makeSession(`computer-${at}-${turn}`)),
    ])
    this.#loading = Promise.all(loops.flat())
  }

  async endLoad(): Promise<void> {
    this.#isLoading = false
    await this.#loading
  }

  async #makeAndDelete(turn: number): Promise<void> {
    const { status, json } = await this.makeLicense()
    if (turn % 5 !== 0 || status !== 201) return
    const id = json.data.license._id
    this.deletions.set(id, false)
    const gone = await callOver(this.server.url, 'DELETE', `/licenses/${id}`, { token: this.token })
    if (gone.status === 200) this.deletions.set(id, true)
  }

  /** Lets a program sign in with a new license. */
  async makeSession(computer = 'a computer'): Promise<void> {
    const { status, json } = await this.makeLicense()
    if (status !== 201) return
    const { url } = this.server
    const session = await signInProgram(url, this.app, json.data.license.key, computer)
    this.sessions.push(session)
    const checked = await callOver(url, 'GET', '/client/session', { headers: signed(session) })
    if (checked.status === 200) this.checks += 1
  }

  /** Keeps everybody else from writing, and so a move from its end, until the connection is closed. */
  holdLock(): DatabaseSync {
    const lock = new DatabaseSync(join(this.dataDir, 'keyward.db'), { timeout: 60_000 })
    lock.exec('begin immediate')
    return lock
  }

  /** Kills a move when it writes a line that matches; it cannot end before. */
  async killMove(url: string, line: RegExp): Promise<void> {
    const lock = this.holdLock()
    const { code } = await this.move(url, line, (move) => move.kill('SIGKILL'))
    lock.close()
    if (code === 0) throw new Error(`the move has ended: ${this.moveSaid}`)
  }

  /** Runs the move; `on` is called once, when a line that it writes matches. */
  move(url: string, line?: RegExp, on: (move: ChildProcess) => unknown = () => {}) {
    this.moveSaid = ''
    return runKeyward(['move', url, '--json'], { DATA_DIR: this.dataDir }, (started) => {
      started.stderr?.on('data', (data) => {
        this.moveSaid += data
        if (line === undefined || !line.test(this.moveSaid)) return
        line = undefined
        on(started)
      })
    })
  }

  async end(): Promise<void> {
    await this.endLoad()
    await this.server.end('SIGKILL')
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}
