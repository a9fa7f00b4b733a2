import { createPublicKey, verify } from 'node:crypto'
import { died, headerOf, type OldApp, type Protocol, plainText, type Sdk } from './program.ts'
import type { OldAnswer } from './shapes.ts'

// Protocol 1.3: Ed25519 over time stamp and body. The program has no secret, only the server's public key.

/** The header of a SubjectPublicKeyInfo of Ed25519. */
const spki = '302a300506032b6570032100'

export function isSigned(publicKey: string, timestamp: string, body: Buffer, signature: string): boolean {
  const key = createPublicKey({ key: Buffer.from(spki + publicKey, 'hex'), format: 'der', type: 'spki' })
  return verify(null, Buffer.concat([Buffer.from(timestamp), body]), key, Buffer.from(signature, 'hex'))
}

interface Habits {
  checks: (type: string) => boolean
  /** How old an answer may be, in seconds. */
  maxAge: number
  /** How far the server's clock may be ahead, in seconds. */
  maxLead?: number
  /** Both headers have to be there even where they are not verified. */
  needsHeaders?: boolean
}

function timed(app: OldApp, now: () => number, habits: Habits): Protocol {
  const { checks, maxAge, maxLead = Number.POSITIVE_INFINITY, needsHeaders = false } = habits
  return {
    seal: (_type, fields) => fields,
    open(type, answer) {
      const signature = headerOf(answer, 'x-signature-ed25519')
      const timestamp = headerOf(answer, 'x-signature-timestamp')
      const isChecked = checks(type)
      if ((isChecked || needsHeaders) && !(signature && timestamp)) died(`${type} is not signed`)
      if (isChecked) {
        if (!/^\d{10}$/.test(timestamp ?? '')) died('the time stamp has no ten digits')
        const age = Math.floor(now() / 1000) - Number(timestamp)
        if (age > maxAge || -age > maxLead) died(`the answer is ${age} seconds old`)
        const isValid =
          /^[0-9a-f]{128}$/i.test(signature ?? '') &&
          isSigned(app.publicKey, timestamp ?? '', answer.body, signature ?? '')
        if (!isValid) died(`the signature of ${type} is wrong`)
      }
      return plainText(answer)
    },
  }
}

const fourUnchecked = (type: string) => !['log', 'file', '2faenable', '2fadisable'].includes(type)
const byCpp =
  'init login register license upgrade changeUsername getvar ban checkblacklist check var webhook fetchOnline fetchStats'.split(
    ' ',
  )

const ownerOf = (_type: string, { ownerid }: OldAnswer, { ownerId }: OldApp) =>
  ownerid === ownerId ? undefined : 'ownerid is not that of the app'

function whole(type: string, answer: OldAnswer, app: OldApp): string | undefined {
  if (!byCpp.includes(type)) return
  const { code, success } = answer
  if (!Number.isInteger(code)) return 'code is no whole number'
  if (success !== (code === 68)) return 'code is 68 for a success and for nothing else'
  return ownerOf(type, answer, app)
}

const asIs = (id: string) => id
const withLineFeed = (id: string) => `${id}\n`
const base = { protocol: '1.3', sending: 'form' } as const

export const python13: Sdk = {
  ...base,
  name: 'Python 1.3',
  hwid: withLineFeed,
  start: (app, now) => timed(app, now, { checks: fourUnchecked, maxAge: 25 }),
}

export const cSharp13: Sdk = {
  ...base,
  name: 'C# 1.3',
  hwid: asIs,
  start: (app, now) => timed(app, now, { checks: fourUnchecked, maxAge: 20 }),
  refuses: ownerOf,
}

export const cpp2025: Sdk = {
  ...base,
  name: 'C++ 2025',
  sending: 'unencoded',
  hwid: asIs,
  start: (app, now) => timed(app, now, { checks: (type) => byCpp.includes(type), maxAge: 20 }),
  refuses: whole,
}

export const cpp2026: Sdk = {
  ...base,
  name: 'C++ 2026',
  sending: 'unencoded',
  query: 'check_paid=1',
  hwid: asIs,
  start: (app, now) => {
    const habits = { checks: (type: string) => byCpp.includes(type), needsHeaders: true }
    const protocol = timed(app, now, { ...habits, maxAge: 120, maxLead: 120 })
    return {
      ...protocol,
      open(type, answer, sealed) {
        if (answer.body.length < 32 || answer.body.length > 2 * 1024 ** 2) died('the body has another size')
        return protocol.open(type, answer, sealed)
      },
    }
  },
  refuses: whole,
}

export const php13: Sdk = {
  ...base,
  name: 'PHP 1.3',
  sending: 'multipart',
  renamed: { checkblacklist: 'checkBlack' },
  start: (app, now) => timed(app, now, { checks: fourUnchecked, maxAge: 300, maxLead: 300 }),
  refuses: (type, answer, app) => (answer.ownerid === undefined ? undefined : ownerOf(type, answer, app)),
}

export const go13: Sdk = {
  ...base,
  name: 'Go 1.3',
  hwid: withLineFeed,
  start: (app, now) => timed(app, now, { checks: () => true, maxAge: 25, maxLead: 25 }),
  refuses(type, { success, newSession, info }, app, now) {
    if (app.ownerId.length !== 10) return 'the owner id has another length'
    if (type === 'init' && success && typeof newSession !== 'boolean') return 'newSession is no boolean'
    const [first] = (info as { subscriptions: { expiry: string }[] } | undefined)?.subscriptions ?? []
    return first && Number(first.expiry) * 1000 < now ? 'the subscription has ended' : undefined
  },
}

/** Verifies nothing. */
export const react13: Sdk = {
  ...base,
  name: 'React 1.3',
  start: () => ({ seal: (_type, fields) => fields, open: (_type, answer) => plainText(answer) }),
}

export const timedSdks = [python13, cSharp13, cpp2025, cpp2026, php13, go13, react13]
