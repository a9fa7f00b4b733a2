import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { died, headerOf, type OldApp, type Protocol, plainText, type Sdk } from './program.ts'
import type { WireAnswer } from './wire.ts'

// Protocol 1.2: HMAC-SHA256 over the body, under the secret at `init` and under both keys later.

export const hmac = (key: string, body: string | Buffer): string =>
  createHmac('sha256', key).update(body).digest('hex')

interface Habits {
  /** The program's own key; programs without one verify nothing. */
  ownKey: () => string
  unchecked: readonly string[]
  signatureOf?: (answer: WireAnswer) => string | undefined
  /** How many characters of the signature this SDK compares. */
  compared?: number
}

const anyCase = (answer: WireAnswer) => headerOf(answer, 'signature')

/** C++ searches the header's raw line. */
const smallLetters = ({ headers }: WireAnswer) => headers.find(([name]) => name === 'signature')?.[1]

function keyed(app: OldApp, { ownKey, unchecked, signatureOf = anyCase, compared = 64 }: Habits): Protocol {
  const own = ownKey()
  return {
    seal: (type, fields) => (type === 'init' ? { ...fields, enckey: own } : fields),
    open(type, answer) {
      if (unchecked.includes(type)) return plainText(answer)
      const signature = signatureOf(answer) ?? died(`${type} is not signed`)
      const expected = hmac(type === 'init' ? app.secret : `${own}-${app.secret}`, answer.body)
      if (!/^[0-9a-f]{64}$/.test(signature) || signature.slice(0, compared) !== expected.slice(0, compared))
        died(`the signature of ${type} is wrong`)
      return plainText(answer)
    },
  }
}

const halfUuid = () => randomUUID().slice(0, 16)
const asIs = (id: string) => id
const withLineFeed = (id: string) => `${id}\n`
const base = { protocol: '1.2', sending: 'form' } as const

export const python12: Sdk = {
  ...base,
  name: 'Python 1.2',
  hwid: withLineFeed,
  start: (app) => keyed(app, { ownKey: halfUuid, unchecked: ['log'] }),
}

export const go12: Sdk = {
  ...base,
  name: 'Go 1.2',
  hwid: withLineFeed,
  start: (app) => keyed(app, { ownKey: halfUuid, unchecked: [] }),
  refuses: (type, { success, newSession }, app) => {
    if (app.ownerId.length !== 10 || app.secret.length !== 64) return 'owner id or secret has another length'
    return type === 'init' && success && typeof newSession !== 'boolean'
      ? 'newSession is no boolean'
      : undefined
  },
}

export const cSharp12: Sdk = {
  ...base,
  name: 'C# 1.2',
  hwid: asIs,
  start: (app) => keyed(app, { ownKey: halfUuid, unchecked: ['log', 'file'] }),
}

export const rust12: Sdk = {
  ...base,
  name: 'Rust 1.2',
  sending: 'unencoded',
  hwid: asIs,
  start: (app) => keyed(app, { ownKey: () => randomBytes(16).toString('hex'), unchecked: ['log', 'ban'] }),
}

const uncheckedByCpp = ['log', 'file', 'chatget', 'chatsend', 'setvar', 'forgot', 'logout']

export const cpp12: Sdk = {
  ...base,
  name: 'C++ 1.2',
  sending: 'unencoded',
  hwid: asIs,
  start: (app) =>
    keyed(app, {
      ...{ ownKey: halfUuid, unchecked: uncheckedByCpp, compared: 8 },
      signatureOf: smallLetters,
    }),
  refuses: (type, answer) =>
    type === 'chatget' && !Array.isArray(answer.messages) ? 'it iterates over no list' : undefined,
}

const believing: Sdk['start'] = () => ({
  seal: (_type, fields) => fields,
  open: (_type, answer) => plainText(answer),
})

/** Sends parts of a form and neither hardware id nor version. */
export const php12: Sdk = {
  ...base,
  name: 'PHP 1.2',
  sending: 'multipart',
  renamed: { checkblacklist: 'checkBlack' },
  start: believing,
}

export const javaScript12: Sdk = {
  ...base,
  name: 'JavaScript 1.2',
  host: 'keyauth.win',
  renamed: { 'var.varid': 'var' },
  start: believing,
}

export const keyedSdks = [python12, go12, cSharp12, rust12, cpp12, php12, javaScript12]
