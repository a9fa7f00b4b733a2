import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  generateKeyPairSync,
  sign,
} from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Protocol = '1.0' | '1.1' | '1.2' | '1.3'

/** An end user of the old provider; those who signed in by key alone have the key as name and password. */
interface OldUser {
  password: string
  key: string | null
  /** Unix seconds. */
  expiry: number
  hwid: string | null
}

/** How a hostile or broken provider answers sign-ins. */
export type Fault =
  | 'wrong signature'
  | 'no signature'
  | 'replayed answer'
  | 'huge body'
  | 'no answer'
  | 'an answer that drips'
  | 'headers that drip'
  | 'redirect'
  | 'another end user'
  | 'no subscription'
  | 'no JSON'
  | 'status 500'
  | 'old timestamp'
  | 'unknown app'

const secret = '6c1c5677ee7740103a2969bbb60094bf53ad53b500f5baf80e635bc38ffd9e49'
/** Names are compared without tags, case and accents. */
const folded = (name: string) =>
  name
    .replace(/<(?!\s)[^>]*>?/g, '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const aes = (key: string, iv: string) =>
  [
    'aes-256-cbc',
    Buffer.from(digest(key).slice(0, 32), 'ascii'),
    Buffer.from(digest(iv).slice(0, 16), 'ascii'),
  ] as const

/** Settings of an old provider that is not there. */
export const lazyMoveSettings = {
  url: 'https://old.example/api/1.2/',
  protocol: '1.2',
  name: 'Atlas',
  ownerId: 'Kw3nD0rId1',
  secret,
  until: '2030-01-01',
}

/** The provider that a vendor leaves, on loopback: what programs of the four protocols need to sign in. */
export async function startOldProvider(protocol: Protocol, now: () => number) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const users = new Map<string, OldUser>()
  const sessions = new Map<string, string>()
  const recorded: { headers: Record<string, string>; body: string }[] = []
  const host = {
    url: '',
    users,
    /** The sign-ins that were asked for: the call, and the name or key. */
    asked: [] as string[],
    fault: undefined as Fault | undefined,
    /** Sign-ins wait for it before they are answered. */
    gate: undefined as Promise<void> | undefined,
    /** How many sign-ins wait or are answered now, at most until now. */
    open: 0,
    mostOpen: 0,
    settings: {
      protocol,
      name: 'Atlas',
      ownerId: 'Kw3nD0rId1',
      ...(protocol === '1.0' || protocol === '1.2' ? { secret } : {}),
      ...(protocol === '1.3'
        ? { publicKey: Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex') }
        : {}),
    },
    add: (name: string, user: Partial<OldUser> = {}) =>
      users.set(folded(name), {
        password: name,
        key: null,
        hwid: null,
        expiry: Math.floor(now() / 1000) + 30 * 86_400,
        ...user,
      }),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }

  function read(form: URLSearchParams): Record<string, string> {
    const all = Object.fromEntries(form)
    if (protocol !== '1.0') return all
    const plain = (name: string) => Buffer.from(all[name] ?? '', 'hex').toString()
    const names = ['type', 'name', 'ownerid', 'sessionid']
    const fields = Object.fromEntries(names.map((name) => [name, plain(name)]))
    const key = fields.type === 'init' ? secret : (sessions.get(fields.sessionid ?? '') ?? '')
    for (const [name, value] of Object.entries(all)) {
      if (names.includes(name) || name === 'init_iv' || name === 'hash') continue
      const decipher = createDecipheriv(...aes(key, all.init_iv ?? ''))
      fields[name] = decipher.update(value, 'hex', 'utf8') + decipher.final('utf8')
    }
    return { ...fields, init_iv: all.init_iv ?? '' }
  }

  function send(response: ServerResponse, fields: Record<string, string>, answer: object, enckey: string) {
    const json = JSON.stringify(protocol === '1.3' ? { ...answer, ownerid: 'Kw3nD0rId1' } : answer)
    const isWrong = host.fault === 'wrong signature' && fields.type !== 'init'
    const key = fields.type === 'init' ? secret : `${enckey}-${secret}`
    const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' }
    let body = json
    if (protocol === '1.0') {
      const of = fields.type === 'init' ? secret : enckey
      const cipher = createCipheriv(...aes(isWrong ? 'another key' : of, fields.init_iv ?? ''))
      body = cipher.update(json, 'utf8', 'hex') + cipher.final('hex')
    }
    if (protocol === '1.2') {
      headers.signature = createHmac('sha256', isWrong ? 'another key' : key)
        .update(body)
        .digest('hex')
    }
    if (protocol === '1.3') {
      const late = host.fault === 'old timestamp' && fields.type !== 'init' ? 600 : 0
      const at = `${Math.floor(now() / 1000) - late}`
      headers['x-signature-timestamp'] = at
      const bytes = Buffer.from(`${at}${isWrong ? 'x' : ''}${body}`)
      headers['x-signature-ed25519'] = sign(null, bytes, privateKey).toString('hex')
    }
    if (host.fault === 'no signature' && fields.type !== 'init') {
      if (protocol === '1.0') body = json
      for (const name of Object.keys(headers)) if (name.includes('signature')) delete headers[name]
    }
    if (fields.type !== 'init') {
      const [first] = recorded
      if (host.fault === 'replayed answer' && first)
        return response.writeHead(200, first.headers).end(first.body)
      recorded.push({ headers, body })
    }
    return response.writeHead(200, headers).end(body)
  }

  function judge(fields: Record<string, string>): object {
    const refused = (message: string) => ({ success: false, code: 1, message })
    const name = fields.type === 'login' ? (fields.username ?? '') : (fields.key ?? '')
    const user = users.get(folded(name))
    if (!user) return refused(fields.type === 'login' ? 'Invalid username' : 'Invalid license key')
    if (fields.type === 'login' && user.password !== fields.pass) return refused('Password does not match.')
    if (user.hwid !== null && user.hwid !== fields.hwid)
      return refused("HWID doesn't match. Ask for a HWID reset")
    if (user.expiry <= now() / 1000) return refused('No active subscription(s) found')
    const subscription = {
      subscription: 'default',
      key: user.key ?? (fields.type === 'license' ? name : null),
      expiry: String(user.expiry),
      timeleft: user.expiry - Math.floor(now() / 1000),
      level: '1',
    }
    const username = host.fault === 'another end user' ? 'mallory' : name
    const subscriptions = host.fault === 'no subscription' ? [] : [subscription]
    const info = { username, subscriptions, ip: '203.0.113.9', hwid: fields.hwid ?? null }
    return {
      success: true,
      code: 68,
      message: 'Logged in!',
      info: { ...info, createdate: '1', lastlogin: '1' },
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (host.fault === 'unknown app') return response.writeHead(200).end('KeyAuth_Invalid')
    const fields = read(new URLSearchParams(Buffer.concat(chunks).toString()))
    if (fields.type === 'init') {
      const sessionid = digest(`${Math.random()}`).slice(0, 10)
      // As the old servers do: the next session of an address ends the one before it.
      if (protocol === '1.2' || protocol === '1.1') sessions.clear()
      sessions.set(sessionid, fields.enckey ?? '')
      const started = { success: true, code: 68, message: 'Initialized', sessionid, newSession: true }
      return send(response, fields, started, '')
    }
    host.asked.push(`${fields.type} ${fields.username ?? fields.key}`)
    host.open += 1
    host.mostOpen = Math.max(host.mostOpen, host.open)
    response.on('close', () => {
      host.open -= 1
    })
    await host.gate
    if (host.fault === 'no answer') return undefined
    if (host.fault?.includes('drip')) return drip(response, host.fault === 'headers that drip')
    if (host.fault === 'redirect') return response.writeHead(307, { location: `${host.url}elsewhere` }).end()
    if (host.fault === 'status 500') return response.writeHead(500).end('{}')
    if (host.fault === 'no JSON') return response.writeHead(200).end('<html>')
    if (host.fault === 'huge body')
      return response.writeHead(200).end(`{"success":true,"x":"${'x'.repeat(200_000)}"}`)
    const enckey = sessions.get(fields.sessionid ?? '')
    if (enckey === undefined) {
      const lost = { success: false, message: 'Session not found. Use latest code.' }
      return response.writeHead(200).end(JSON.stringify(lost))
    }
    return send(response, fields, judge(fields), enckey)
  }

  /** Sends a byte now and then, and never ends. */
  function drip(response: ServerResponse, isHead: boolean): void {
    response.socket?.write('HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n')
    if (!isHead) response.socket?.write('\r\n')
    const dripping = setInterval(() => response.socket?.write(isHead ? 'x: y\r\n' : ' '), 20)
    response.on('close', () => clearInterval(dripping))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/${protocol}/`
  return host
}

export type OldProviderHost = Awaited<ReturnType<typeof startOldProvider>>
