import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import tls from 'node:tls'

interface Received {
  from: string
  to: string[]
  /** Headers and body as received, folded header lines joined. */
  head: string
  body: string
}

interface Behaviour {
  /** Returns a response to a command, undefined for the usual one, or null for none. */
  reply?: (command: string) => string | null | undefined
  /** Accepts connections but never responds. */
  isSilent?: boolean
  tls?: { key: string; cert: string }
}

/** A mail server that accepts and stores every message. */
export class SmtpSink {
  readonly received: Received[] = []
  readonly commands: string[] = []
  connections = 0
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  readonly #behaviour: Behaviour

  private constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour
    const onSocket = (socket: Socket) => this.#converse(socket)
    this.#server = behaviour.tls ? tls.createServer(behaviour.tls, onSocket) : createServer(onSocket)
  }

  static async start(behaviour: Behaviour = {}): Promise<SmtpSink> {
    const sink = new SmtpSink(behaviour)
    await new Promise<void>((resolve) => sink.#server.listen(0, '127.0.0.1', resolve))
    return sink
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #converse(socket: Socket): void {
    this.connections += 1
    this.#sockets.add(socket)
    socket.on('error', () => {})
    const say = (text: string) => socket.write(`${text}\r\n`)
    if (this.#behaviour.isSilent) return
    let from = ''
    let to: string[] = []
    let content: string[] | undefined
    const answer = (line: string): string => {
      const [verb = ''] = line.toUpperCase().split(' ')
      const address = /<(.*)>/.exec(line)?.[1] ?? ''
      switch (verb) {
        case 'EHLO':
          return '250-sink\r\n250-AUTH PLAIN\r\n250 8BITMIME'
        case 'AUTH':
          return '235 welcome'
        case 'MAIL':
          from = address
          to = []
          return '250 ok'
        case 'RCPT':
          to.push(address)
          return '250 ok'
        case 'DATA':
          content = []
          return '354 go on'
        default:
          return '250 ok'
      }
    }
    const take = (line: string) => {
      if (content === undefined) {
        this.commands.push(line)
        const override = this.#behaviour.reply?.(line)
        return override === null ? undefined : say(override ?? answer(line))
      }
      if (line !== '.') return content.push(line.replace(/^\.\./, '.'))
      const [head = '', ...body] = content.join('\r\n').split('\r\n\r\n')
      this.received.push({ from, to, head: head.replace(/\r\n[ \t]+/g, ' '), body: body.join('\r\n\r\n') })
      content = undefined
      return say('250 taken')
    }
    let rest = ''
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(line)
    })
    say('220 sink ESMTP')
  }
}
