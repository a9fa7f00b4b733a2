import { type OldAnswer, unreadable } from './shapes.ts'
import { type Fields, type Sending, toRequest, type Wire, type WireAnswer } from './wire.ts'

export type ProtocolName = '1.0' | '1.1' | '1.2' | '1.3'

/** What a vendor wrote into the program: name, owner id and, by protocol, secret or public key. */
export interface OldApp {
  name: string
  ownerId: string
  secret: string
  /** Hex, as it replaces the literal in the SDK. */
  publicKey: string
}

/** A shipped program ended itself or crashed: what its customer would see. */
export class ProgramDied extends Error {}

export function died(reason: string): never {
  throw new ProgramDied(reason)
}

/** What a protocol does to requests and answers. */
export interface Protocol {
  seal(type: string, fields: Fields): Fields
  /** Returns the text of an answer; ends the program if it is not the server's. */
  open(type: string, answer: WireAnswer, sealed: Fields): string
}

/** How one SDK behaves, as the sheet tells. */
export interface Sdk {
  name: string
  protocol: ProtocolName
  sending: Sending
  start(app: OldApp, now: () => number): Protocol
  host?: string
  /** Added to the address, even of a POST. */
  query?: string
  /** The hardware id as this SDK sends it; SDKs without one send none. */
  hwid?: (id: string) => string
  /** Types and fields that this SDK calls otherwise. */
  renamed?: Record<string, string>
  /** Why this SDK cannot go on with an answer that others can read. */
  refuses?: (type: string, answer: OldAnswer, app: OldApp, now: number) => string | undefined
}

/** The value of a header, whatever the case of its name. */
export const headerOf = ({ headers }: WireAnswer, name: string): string | undefined =>
  headers.find(([written]) => written.toLowerCase() === name)?.[1]

const textOf = (body: Buffer) => body.toString('latin1')

/** The text of an answer that this program does not verify. */
export function plainText(answer: WireAnswer): string {
  const text = textOf(answer.body)
  if (text !== '' && !/^application\/json; charset=utf-8$/i.test(headerOf(answer, 'content-type') ?? ''))
    died('the answer does not name its charset')
  return text
}

const signingIn = ['register', 'login', 'license', 'loginEmail']
const withDevice = [...signingIn, 'checkblacklist', 'ban']

/** A shipped program between start and end. A refusal is an answer; `ProgramDied` is what no vendor wants. */
export class OldProgram {
  sessionId: string | undefined
  readonly #sdk: Sdk
  readonly #app: OldApp
  readonly #wire: Wire
  readonly #now: () => number
  readonly #protocol: Protocol
  readonly #device: string
  readonly #path: string

  constructor(
    sdk: Sdk,
    app: OldApp,
    options: { wire: Wire; now?: () => number; device?: string; path?: string },
  ) {
    const { wire, now = Date.now, device = '', path = `/api/${sdk.protocol}/` } = options
    this.#sdk = sdk
    this.#app = app
    this.#wire = wire
    this.#now = now
    this.#device = device
    this.#path = path
    this.#protocol = sdk.start(app, now)
  }

  async init(version = '1.0', more: Fields = {}): Promise<OldAnswer> {
    const answer = await this.call('init', { ver: version, ...more })
    if (answer.success) this.sessionId = answer.sessionid as string
    return answer
  }

  async call(type: string, fields: Fields = {}): Promise<OldAnswer> {
    const { query, renamed = {}, sending, host, refuses, hwid } = this.#sdk
    const device = withDevice.includes(type) && this.#device !== '' ? hwid?.(this.#device) : undefined
    const told = Object.entries({ hwid: device, ...fields })
    const named = Object.fromEntries(told.map(([name, value]) => [renamed[`${type}.${name}`] ?? name, value]))
    const { name, ownerId: ownerid } = this.#app
    const all = { type: renamed[type] ?? type, ...named, sessionid: this.sessionId, name, ownerid }
    const sealed = this.#protocol.seal(type, all)
    const path = query ? `${this.#path}?${query}` : this.#path
    const answer = await this.#wire(toRequest(path, sealed, sending, host))
    if (answer.status !== 200) died(`the status is ${answer.status}`)
    const text = this.#protocol.open(type, answer, sealed)
    if (/[^\x20-\x7e]/.test(text)) died('the answer is not ASCII, which changes what is verified')
    if (text === '' && type === 'log') return { success: true, message: '' }
    if (text === 'KeyAuth_Invalid') died('the app does not exist')
    const json = this.#parse(text)
    const reason = unreadable(type, json) ?? refuses?.(type, json, this.#app, this.#now())
    if (reason !== undefined) died(`${type}: ${reason}`)
    return json
  }

  #parse(text: string): OldAnswer {
    try {
      return JSON.parse(text)
    } catch {
      died(`the answer is not JSON: ${text.slice(0, 80)}`)
    }
  }
}
