// The adapter of the TypeScript SDK; see README.md for its protocol.
import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { encodeRequest } from '../../packages/sdk/src/activation.ts'
import { describeDevice } from '../../packages/sdk/src/device.ts'
import { exchange } from '../../packages/sdk/src/http.ts'
import { defaultHwid, type Machine } from '../../packages/sdk/src/hwid.ts'
import {
  Keyward,
  KeywardError,
  KeywardNetworkError,
  type KeywardOptions,
  KeywardSignatureError,
} from '../../packages/sdk/src/index.ts'
import { toKeyRing } from '../../packages/sdk/src/keys.ts'
import { Offline } from '../../packages/sdk/src/offline.ts'
import { platform } from '../../packages/sdk/src/platform-node.ts'
import { isSigned, judge, type SentRequest, signatureBase } from '../../packages/sdk/src/signature.ts'
import { parseDictionary } from '../../packages/sdk/src/structured-fields.ts'
import type { Fetch } from '../../packages/sdk/src/types.ts'

// biome-ignore lint/suspicious/noExplicitAny: requests are read from JSON
type Request = Record<string, any>
type EncodeFacts = { appId: string; hwid: string; licenseKey: string }

interface Client {
  keyward: Keyward
  events: unknown[]
  /** Seconds since 1970; undefined for the real time. */
  now: number | undefined
  /** How far its monotonic clock is ahead of that of the process, in milliseconds. */
  elapsedMs: number
}

const clients = new Map<string, Client>()
const clock = new AsyncLocalStorage<Client>()
const realNow = Date.now
Date.now = () => {
  const now = clock.getStore()?.now
  return now === undefined ? realNow() : now * 1000
}
const monotonic = performance.now.bind(performance)
performance.now = () => monotonic() + (clock.getStore()?.elapsedMs ?? 0)

const operations: Record<string, (request: Request) => unknown> = {
  new({ id, options, now }) {
    const events: unknown[] = []
    const client = { keyward: new Keyward(toOptions(options, events)), events, now, elapsedMs: 0 }
    clients.set(id, client)
    return { ok: true }
  },
  now({ id, now }) {
    clients.get(id)!.now = now
    return { ok: true }
  },
  elapse({ id, seconds }) {
    clients.get(id)!.elapsedMs += seconds * 1000
    return { ok: true }
  },
  call: ({ id, method, args }) => call(id, method, args),
  together: async ({ calls }) => ({
    results: await Promise.all(
      calls.map(async ({ id, method, args, after }: Request) => {
        while (after !== undefined && !existsSync(after)) await setTimeout(5)
        return call(id, method, args).catch(toError)
      }),
    ),
  }),
  events: ({ id }) => ({ result: clients.get(id)!.events.splice(0) }),
  ed25519: async ({ publicKey, message, signature }) => {
    const verify = platform.toVerifier(Buffer.from(publicKey, 'hex'))
    return { valid: await verify(Buffer.from(message, 'hex'), Buffer.from(signature, 'hex')) }
  },
  judge: judgeCase,
  lease: checkLease,
  encodeRequest: async ({ nonce, ...facts }) => {
    const bytes = Buffer.from(nonce, 'hex')
    return { request: await encodeRequest({ ...(facts as EncodeFacts), nonce: bytes }) }
  },
  hwid: async ({ appId, machine }) => ({ hwid: await defaultHwid(appId, machineOf(machine)) }),
  hwidSources: async ({ appId, ...facts }) => ({ hwid: await defaultHwid(appId, machineWith(facts)) }),
  part: async ({ appId, part, value }) => {
    const { parts } = (await describeDevice(appId, machineWithPart(part, value)))!
    return { hash: (parts as Record<string, string>)[part] ?? null }
  },
}

function toOptions({ hwid, storage, log, ...rest }: Request, events: unknown[]): KeywardOptions {
  const options: Request = { ...rest }
  if (hwid !== undefined) options.hwid = hwid === '!throw' ? fail : hwid
  if (storage !== undefined) options.storage = storage === 'user-data' ? storage : fileStorage(storage.file)
  if (log === true) options.log = (event: unknown) => void events.push(event)
  if (log === '!throw') options.log = fail
  return options as KeywardOptions
}

const fail = () => {
  throw new Error('It fails on purpose')
}

const fileStorage = (path: string) => ({
  read: () => readFile(path, 'utf8').catch(() => null),
  write: (text: string) => writeFile(path, text),
})

async function call(id: string, method: string, args: unknown[] = []) {
  const client = clients.get(id)!
  const run = (client.keyward as unknown as Record<string, (...args: unknown[]) => unknown>)[method]!
  const result = await clock.run(client, async () => run.call(client.keyward, ...args))
  return { result: result ?? null }
}

async function judgeCase({ keys, request, response }: Request) {
  const ring = toKeyRing(keys)
  const { method, path, headers } = request
  const sent: SentRequest = {
    method,
    path,
    nonce: headers['keyward-nonce'],
    authorization: headers.authorization,
    contentDigest: headers['content-digest'],
  }
  const exchanged = { url: path, method, headers, body: request.body ?? undefined }
  try {
    const answer = await exchange(respondWith(response), exchanged, 60_000)
    const { outcome } = await judge(sent, answer, ring)
    if (!isSigned(answer)) return { outcome }
    const { params } = parseDictionary(answer.headers.get('signature-input')!.trim()).get('keyward')!
    const created = params.get('created')?.value as number
    const keyid = params.get('keyid')?.value as string
    return { outcome, signatureBase: signatureBase(sent, answer, { created, keyid }) }
  } catch (error) {
    if (error instanceof KeywardSignatureError) return { outcome: 'refused', reason: error.code }
    if (error instanceof KeywardNetworkError) return { outcome: 'unavailable', reason: error.code }
    throw error
  }
}

function respondWith({ status, headers, body, bodyBase64, bodyRepeat = 1 }: Request): Fetch {
  const once = bodyBase64 === undefined ? Buffer.from(body, 'utf8') : Buffer.from(bodyBase64, 'base64')
  const chunks = Array.from({ length: bodyRepeat }, () => once)
  const get = (name: string) => {
    const values = headers
      .filter(([each]: [string, string]) => each.toLowerCase() === name)
      .map(([, value]: [string, string]) => value)
    return values.length > 0 ? values.join(', ') : null
  }
  const read = async () => ({ done: chunks.length === 0, value: chunks.shift() })
  return async () => ({
    status,
    headers: { get },
    body: { getReader: () => ({ read, cancel: async () => {} }) },
  })
}

async function checkLease({ keys, appId, hwid, lease, type, now, latest, nonce }: Request) {
  const pending = { nonce, licenseKey: 'its hash' }
  const kept = type === 'lease' ? { lease, user: {} } : { activation: { pending } }
  const storage = { read: async () => JSON.stringify({ ...kept, latest }), write: async () => {} }
  const offline = new Offline(storage, appId, toKeyRing(keys), () => now)
  if (type === 'activation') return { accepted: typeof (await offline.activate(lease, hwid)) === 'object' }
  const answer = await offline.answer(hwid, undefined)
  return typeof answer === 'string' ? { accepted: false, problem: answer } : { accepted: true }
}

/** The files that hold the sources of the other systems. */
const sourceOf: Record<string, string> = { darwin: 'ioplatform', win32: 'machine-guid' }

function machineWith({ platform, files = {}, macs = [], hostname = '' }: Request): Machine {
  const failures = new Map<string, number>()
  const read = async (path: string): Promise<string> => {
    const found = files[path] ?? { error: 'ENOENT' }
    if (typeof found === 'string') return found
    const failed = (failures.get(path) ?? 0) + 1
    failures.set(path, failed)
    if (found.times !== undefined && failed > found.times) return found.text
    throw Object.assign(new Error(found.error), { code: found.error })
  }
  const run = async (file: string, args: string[]) => {
    if (file !== 'reg.exe') return `"IOPlatformUUID" = "${await read(sourceOf[platform]!)}"\n`
    return query(args, files['machine-guid'] === undefined ? undefined : await read('machine-guid'))
  }
  return { platform, hostname, system: '', macs, read, run }
}

/** What reg.exe prints; it ends with 1 if it is asked for a value that is missing. */
function query(args: string[], id: string | undefined): string {
  if (id === undefined && args.includes('/v')) throw Object.assign(new Error('reg.exe'), { code: 1 })
  const key = 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography'
  const value = id === undefined ? '' : `    MachineGuid    REG_SZ    ${id}\r\n`
  return `\r\n${key}\r\n    OldMachineGuid    REG_SZ    0ld\r\n${value}\r\n${key}\\Services\r\n`
}

/** A machine with exactly one identity, `source:id`. */
function machineOf(identity: string): Machine {
  const at = identity.indexOf(':')
  const [source, id] = [identity.slice(0, at), identity.slice(at + 1)]
  const linux = { 'machine-id': '/etc/machine-id', dmi: '/sys/class/dmi/id/product_uuid' }[source]
  if (linux) return machineWith({ platform: 'linux', files: { [linux]: id } })
  if (source === 'ioplatform') return machineWith({ platform: 'darwin', files: { ioplatform: id } })
  if (source === 'machine-guid') return machineWith({ platform: 'win32', files: { 'machine-guid': id } })
  if (source === 'hostid') return machineWith({ platform: 'other', files: { '/etc/hostid': id } })
  return machineWith({ platform: 'linux', macs: [id.slice(0, 17)], hostname: id.slice(18) })
}

function machineWithPart(part: string, value: string): Machine {
  const files: Record<string, string> = {
    machine: '/etc/machine-id',
    board: '/sys/class/dmi/id/product_uuid',
    disk: '/sys/block/nvme0n1/device/serial',
  }
  if (part === 'network') return machineWith({ platform: 'linux', macs: [value] })
  return machineWith({ platform: 'linux', files: { [files[part]!]: value } })
}

function toError(error: unknown): object {
  if (!(error instanceof KeywardError)) return { error: { kind: 'other', code: String(error) } }
  const { code } = error
  const kind = { KeywardNetworkError: 'network', KeywardSignatureError: 'signature' }[error.name] ?? 'usage'
  const { status, retryAfterMs, outcomeUnknown, offline } = error as Partial<KeywardNetworkError>
  return { error: { kind, code, status, retryAfterMs, outcomeUnknown, offline } }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request: Request = JSON.parse(line)
  const operation = operations[request.op] ?? (() => Promise.reject(new Error(`unknown op ${request.op}`)))
  const answer = await (async () => operation(request))().catch(toError)
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
