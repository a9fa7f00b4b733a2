import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { died, headerOf, type Sdk } from './program.ts'
import type { Fields } from './wire.ts'

// Protocol 1.0: AES-256-CBC both ways, under the secret at `init` and under the program's own key later.

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Keys are characters of a hex text, not the bytes that it names. */
const keyOf = (key: string, vector: string) =>
  ['aes-256-cbc', Buffer.from(sha256(key).slice(0, 32)), Buffer.from(sha256(vector).slice(0, 16))] as const

export function encrypt(text: string, key: string, vector: string): string {
  const cipher = createCipheriv(...keyOf(key, vector))
  return cipher.update(text, 'utf8', 'hex') + cipher.final('hex')
}

export function decrypt(hex: string, key: string, vector: string): string {
  if (!/^([0-9a-f]{32})+$/i.test(hex)) died(`no cipher text: ${hex.slice(0, 80)}`)
  try {
    const decipher = createDecipheriv(...keyOf(key, vector))
    return decipher.update(hex, 'hex', 'latin1') + decipher.final('latin1')
  } catch {
    died('the answer does not decrypt')
  }
}

const inHex = ['type', 'name', 'ownerid', 'sessionid']
const inClear = ['hash', 'reason', 'newUsername']

export const encrypted: Sdk = {
  name: 'C# 1.0',
  protocol: '1.0',
  sending: 'form',
  hwid: (id) => id,
  start(app, _now, ownKey = sha256(randomBytes(16).toString('hex'))) {
    const keyFor = (type: string) => (type === 'init' ? app.secret : ownKey)
    return {
      seal(type, fields) {
        const vector = sha256(randomBytes(8).toString('hex'))
        const sent = type === 'init' ? { ...fields, enckey: ownKey } : fields
        const seal = ([name, value]: [string, string | undefined]): [string, string | undefined] => {
          if (value === undefined || inClear.includes(name)) return [name, value]
          if (inHex.includes(name)) return [name, Buffer.from(value).toString('hex')]
          return [name, encrypt(value, keyFor(type), vector)]
        }
        return { ...Object.fromEntries(Object.entries(sent).map(seal)), init_iv: vector } as Fields
      },
      open(type, answer, { init_iv: vector = '' }) {
        const hex = answer.body.toString('latin1')
        if (headerOf(answer, 'content-type')?.includes('json')) died('the answer is cipher text, not JSON')
        return hex === '' && type === 'log' ? '' : decrypt(hex, keyFor(type), vector)
      },
    }
  },
}
