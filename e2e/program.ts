import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from './keyward.ts'

const tally = fileURLToPath(new URL('../examples/protected-cli/src/tally.mjs', import.meta.url))

export interface Configuration {
  baseUrl: string
  appId: string
  secret: string
  /** The public keys as JSON, as copied from the console. */
  publicKeys: string
  /** The folder in which it stores its key and its lease. */
  home: string
  /** How many days the clock of its machine is ahead of the right time. */
  clockDays?: number
}

/** Options of Node.js with which a process sees a clock that is ahead. */
export const clockAhead = (days: number): string =>
  `--import data:text/javascript,${encodeURIComponent(`
    const Right = Date
    const ahead = ${days * 24 * 60 * 60 * 1000}
    globalThis.Date = class Date extends Right {
      constructor(...parts) {
        if (parts.length > 0) super(...parts)
        else super(Right.now() + ahead)
      }
      static now() {
        return Right.now() + ahead
      }
    }`)}`

/** The example program in its own process, as a customer runs it. */
export class Tally {
  private output = ''
  private readonly ended: Promise<number | null>
  private readonly child: ChildProcess

  constructor(configuration: Configuration, machine: string, ...args: string[]) {
    this.child = spawn(process.execPath, [tally, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        KEYWARD_BASE_URL: configuration.baseUrl,
        KEYWARD_APP_ID: configuration.appId,
        KEYWARD_SECRET: configuration.secret,
        KEYWARD_PUBLIC_KEYS: configuration.publicKeys,
        KEYWARD_HWID: machine,
        TALLY_HOME: configuration.home,
        HOME: configuration.home,
        XDG_STATE_HOME: configuration.home,
        LOCALAPPDATA: configuration.home,
        ...(configuration.clockDays !== undefined && { NODE_OPTIONS: clockAhead(configuration.clockDays) }),
      },
    })
    const listen = (chunk: Buffer) => {
      this.output += chunk
    }
    this.child.stdout?.on('data', listen)
    this.child.stderr?.on('data', listen)
    this.ended = new Promise((resolve) => this.child.once('close', resolve))
  }

  /** What it has printed so far. */
  get text(): string {
    return this.output.trim()
  }

  async expectOutput(text: string) {
    await expect.poll(() => this.output).toContain(text)
  }

  async expectEnd(status: number, text: string) {
    const code = await this.ended
    expect(this.output).toContain(text)
    expect(code, this.output).toBe(status)
  }

  async stop() {
    if (this.child.exitCode === null) this.child.kill()
    await this.ended
  }
}
