import { createHash } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Crockford's base32, the last symbol filled with zero bits. */
function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
}

const sha256 = (...parts: (string | Buffer)[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

interface Facts {
  appId: string
  hwid: string
  licenseKey: string
  /** 8 bytes in hex. */
  nonce: string
}

function encode({ appId, hwid, licenseKey, nonce }: Facts, change = (bytes: Buffer) => bytes): string {
  const content = Buffer.concat([
    Buffer.from([1]),
    Buffer.from(nonce, 'hex'),
    sha256(hwid),
    Buffer.from(licenseKey, 'utf8'),
  ])
  return toText(change(Buffer.concat([content, sha256(appId, content).subarray(0, 4)])))
}

const toText = (bytes: Buffer) =>
  `KWR1-${
    toBase32(bytes)
      .match(/.{1,5}/g)
      ?.join('-') ?? ''
  }`

/** Correct check over changed content. */
const resealed = (facts: Facts, change: (content: Buffer) => Buffer) =>
  encode(facts, (bytes) => {
    const content = change(bytes.subarray(0, -4))
    return Buffer.concat([content, sha256(facts.appId, content).subarray(0, 4)])
  })

const usual: Facts = {
  appId: 'k3yw4rd1',
  hwid: '7580780d439ae50c458cace40a3e7922c90f451498daaf1853607965168b0ec5',
  licenseKey: '7K3QD-M9XWV-2TBRE-HJ5NC-P8FGA',
  nonce: '0102030405060708',
}
const text = encode(usual)
const cases = [
  { name: 'the usual', ...usual },
  { name: 'the same machine and key with another nonce', ...usual, nonce: 'ffffffffffffffff' },
  { name: 'the same machine and key for another app', ...usual, appId: 'an0therx' },
  { name: 'a key as it was typed', ...usual, licenseKey: '7k3qd m9xwv 2tbre hj5nc p8fga' },
  { name: 'a key of one character', ...usual, licenseKey: 'K' },
  { name: 'a key of 100 characters', ...usual, licenseKey: 'K'.repeat(100) },
  { name: 'a key beyond ASCII', ...usual, licenseKey: 'clé-Schlüssel-ключ-钥匙' },
  { name: 'a hardware id beyond ASCII', ...usual, hwid: 'Größe' },
  { name: 'a nonce that begins with zeros', ...usual, nonce: '0000000000000001' },
].map((facts) => ({ ...facts, request: encode(facts) }))

const symbol = (at: number, change: (symbol: string) => string) =>
  text.slice(0, at) + change(text[at]!) + text.slice(at + 1)
const next = (symbol: string) => alphabet[(alphabet.indexOf(symbol) + 1) % 32]!

/** Activation requests: how programs write them, how servers read them, and which ones servers reject. */
export const requests = {
  cases,
  readings: [
    ['in lower case', text.toLowerCase()],
    ['without dashes', text.replaceAll('-', '')],
    ['with spaces instead of dashes', text.replaceAll('-', ' ')],
    ['on several lines', text.replace(/(.{24})/g, '$1\r\n')],
    ['with white space around it', `\t ${text}\n`],
    ['with dashes of a word processor', text.replaceAll('-', '–')],
    ['with O for 0', text.replaceAll('0', 'O')],
    ['with o for 0', text.replaceAll('0', 'o')],
    ['with I for 1', text.replaceAll('1', 'I')],
    ['with l for 1', text.replaceAll('1', 'l')],
  ].map(([name, request]) => ({ name, ...usual, request })),
  rejected: [
    ['of another app', encode({ ...usual, appId: 'an0therx' })],
    ['with a mistyped symbol', symbol(20, next)],
    ['with two symbols swapped', swap(text)],
    ['with a symbol missing', text.slice(0, 30) + text.slice(31)],
    ['with its last group missing', text.replace(/-[^-]*$/, '')],
    ['with a symbol too many', `${text}0`],
    ['with a letter that is not in the alphabet', symbol(20, () => 'U')],
    ['without its prefix', text.slice('KWR1-'.length)],
    ['with the prefix of a newer version', text.replace('KWR1', 'KWR2')],
    [
      'of another version inside',
      resealed(usual, (bytes) => Buffer.concat([Buffer.from([2]), bytes.subarray(1)])),
    ],
    ['without a license key', resealed(usual, (bytes) => bytes.subarray(0, 41))],
    [
      'with a blank license key',
      resealed(usual, (bytes) => Buffer.concat([bytes.subarray(0, 41), Buffer.from('  ')])),
    ],
    [
      'with a key of 101 characters',
      resealed(usual, (bytes) => Buffer.concat([bytes.subarray(0, 41), Buffer.alloc(101, 'K')])),
    ],
    [
      'with a key that is not UTF-8',
      resealed(usual, (bytes) => Buffer.concat([bytes.subarray(0, 41), Buffer.from([0xff, 0xfe])])),
    ],
    ['with half a nonce', resealed(usual, (bytes) => bytes.subarray(0, 5))],
    ['with nothing but the prefix', 'KWR1-'],
    ['that is empty', ''],
  ].map(([name, request]) => ({ name, appId: usual.appId, request })),
}

function swap(request: string): string {
  const at = [...request].findIndex(
    (each, index) =>
      index > 10 && /\w/.test(each) && /\w/.test(request[index + 1] ?? '') && each !== request[index + 1],
  )
  return request.slice(0, at) + request[at + 1] + request[at] + request.slice(at + 2)
}
