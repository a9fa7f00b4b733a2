import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, expect, it } from 'vitest'
import { selfSigned } from '../../../apps/server/test/self-signed.ts'
import { Keyward, type KeywardNetworkError } from '../src/index.ts'
import { startStandIn } from './stand-in.ts'
import { startProxy, startTlsFront } from './stand-in-proxy.ts'

const trusted = getCACertificates('default')
const closing: (() => Promise<unknown>)[] = []
const closed = <T extends { close(): Promise<unknown> }>(one: T): T => {
  closing.push(() => one.close())
  return one
}
afterEach(async () => {
  setDefaultCACertificates(trusted)
  for (const close of closing.splice(0)) await close()
})

const options = { appId: 'app12345', secret: 's', version: '1.0.0', hwid: 'hw-1', timeoutMs: 5_000 }

it.each([
  ['certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'virus scanner', {}, false],
  ['clock', 'CERT_NOT_YET_VALID', 'Set the date and time', { from: '480101000000Z' }, true],
  ['certificate', 'CERT_HAS_EXPIRED', 'Check the date and time', { until: '210101000000Z' }, true],
])(
  'names the cause %s of a certificate with the problem %s, and asks once',
  async (code, problem, advice, validity, isTrusted) => {
    const certificate = selfSigned(validity)
    if (isTrusted) setDefaultCACertificates([...trusted, certificate.cert])
    const server = closed(await startStandIn())
    const front = closed(await startTlsFront(server.baseUrl, certificate))
    const proxy = closed(await startProxy())
    const baseUrl = `https://localhost:${front.port}`
    for (const route of [{}, { proxy: `http://${proxy.address}` }]) {
      const events: string[] = []
      const keyward = new Keyward({
        ...options,
        ...route,
        baseUrl,
        publicKeys: server.publicKeys,
        log: ({ event }) => void events.push(event),
      })
      const registration = { username: 'ada', password: 'secret', licenseKey: 'KEY' }
      const error: KeywardNetworkError = await keyward.register(registration).then(
        () => expect.unreachable('the call must fail'),
        (error) => error,
      )
      expect(error).toMatchObject({ name: 'KeywardNetworkError', code, outcomeUnknown: false })
      for (const part of [`The certificate of ${baseUrl} `, problem, advice])
        expect(error.message).toContain(part)
      expect(events).toEqual(['request', 'failed'])
    }
    expect(server.seen).toHaveLength(0)
  },
)

it.each([
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'certificate'],
  ['CERT_SIGNATURE_FAILURE', 'certificate'],
  ['CERT_CHAIN_TOO_LONG', 'certificate'],
  ['CERT_REVOKED', 'certificate'],
  ['INVALID_CA', 'certificate'],
  ['HOSTNAME_MISMATCH', 'certificate'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate'],
  ['CERT_NOT_YET_VALID', 'clock'],
  ['ECONNRESET', 'connection_lost'],
  ['ECONNREFUSED', 'unreachable'],
])('reads the code %s of the platform as %s', async (problem, code) => {
  const fetch = async () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: problem }) })
  }
  const { publicKeys, baseUrl } = closed(await startStandIn())
  const keyward = new Keyward({ ...options, baseUrl, publicKeys, fetch, timeoutMs: 100 })
  await expect(keyward.init()).rejects.toMatchObject({ code, outcomeUnknown: code === 'connection_lost' })
})

it('reads what Deno says about a certificate', async () => {
  const { publicKeys, baseUrl } = closed(await startStandIn())
  for (const [text, code] of [
    ['UnknownIssuer', 'certificate'],
    ['NotValidForName', 'certificate'],
    ['Expired', 'certificate'],
    ['NotValidYet', 'clock'],
  ]) {
    const fetch = async () => {
      throw new TypeError(`error sending request: client error (Connect): invalid peer certificate: ${text}`)
    }
    const keyward = new Keyward({ ...options, baseUrl, publicKeys, fetch })
    await expect(keyward.init()).rejects.toMatchObject({ code, outcomeUnknown: false })
  }
})
