import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type AnswerCase, files, render } from '../../../sdks/vectors/generate.ts'
import { hashPart } from '../src/device.ts'
import { KeywardNetworkError, KeywardSignatureError } from '../src/errors.ts'
import { defaultHwid } from '../src/hwid.ts'
import { toKeyRing } from '../src/keys.ts'
import { platform } from '../src/platform-node.ts'
import { judge, type SentRequest, signatureBase } from '../src/signature.ts'
import { parseDictionary } from '../src/structured-fields.ts'

const read = (name: string) => readFileSync(new URL(`../../../sdks/vectors/${name}`, import.meta.url), 'utf8')
const { keys: publicKeys, cases } = JSON.parse(read('answers.json')) as (typeof files)['answers.json']
const hwids = JSON.parse(read('hwids.json')) as (typeof files)['hwids.json']
const keys = toKeyRing(publicKeys)
const signatures = JSON.parse(read('ed25519.json')).cases as {
  name: string
  publicKey: string
  message: string
  signature: string
  valid: boolean
}[]

function toSent({ method, path, headers }: AnswerCase['request']): SentRequest {
  return {
    method,
    path,
    nonce: headers['keyward-nonce']!,
    authorization: headers.authorization,
    contentDigest: headers['content-digest'],
  }
}

function toAnswer({ status, headers, body }: AnswerCase['response']) {
  const get = (name: string) => {
    const values = headers.filter(([each]) => each === name).map(([, value]) => value)
    return values.length > 0 ? values.join(', ') : null
  }
  return { status, body: Buffer.from(body, 'utf8'), headers: { get } }
}

describe('the conformance cases for every SDK', () => {
  it.each(Object.entries(files))('match the generator: %s', (name, content) => {
    expect(JSON.parse(read(name))).toEqual(JSON.parse(render(content)))
  })

  it.each(cases.map((each) => [each.name, each] as const))(
    '%s',
    async (_, { request, response, expect: expected }) => {
      const sent = toSent(request)
      const answer = toAnswer(response)
      if (expected.outcome === 'refused') {
        const error = await judge(sent, answer, keys).catch((error) => error)
        expect(error).toBeInstanceOf(KeywardSignatureError)
        expect(error.code).toBe(expected.reason)
        return
      }
      if (expected.reason !== undefined) {
        const error = await judge(sent, answer, keys).catch((error) => error)
        expect(error).toBeInstanceOf(KeywardNetworkError)
        expect(error.code).toBe(expected.reason)
        return
      }
      expect(await judge(sent, answer, keys)).toBe(expected.outcome)
      if (expected.signatureBase === undefined) return
      const input = parseDictionary(answer.headers.get('signature-input')!).get('keyward')!
      const created = input.params.get('created')?.value as number
      const keyid = input.params.get('keyid')?.value as string
      expect(signatureBase(sent, answer, { created, keyid })).toBe(expected.signatureBase)
    },
  )

  it.each(hwids.cases.filter((each) => each.machine.startsWith('machine-id:')))(
    'the hardware id of $name matches the protocol',
    async ({ appId, machine, hwid }) => {
      const never = () => Promise.reject(new Error('unexpected call'))
      const linux = { platform: 'linux', hostname: '', system: '', macs: [], run: never }
      const id = machine.slice(machine.indexOf(':') + 1)
      expect(await defaultHwid(appId, { ...linux, read: async () => id })).toBe(hwid)
    },
  )

  it.each(hwids.parts)('the hash of $name matches the protocol', ({ appId, part, value, hash }) => {
    expect(hashPart(appId, part as 'machine', value)).toBe(hash)
  })

  it('has the cases of RFC 8032 and Wycheproof', () => {
    expect(signatures.length).toBeGreaterThan(150)
    expect(signatures.filter(({ valid }) => !valid).length).toBeGreaterThan(60)
  })

  it.each(signatures)('Ed25519: $name', async ({ publicKey, message, signature, valid }) => {
    const verify = platform.toVerifier(Buffer.from(publicKey, 'hex'))
    expect(await verify(Buffer.from(message, 'hex'), Buffer.from(signature, 'hex'))).toBe(valid)
  })
})
