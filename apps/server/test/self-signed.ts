import { generateKeyPairSync, sign } from 'node:crypto'

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const { length: bytes } = body
  // Strict readers accept the shortest form alone.
  const length = bytes < 128 ? [bytes] : bytes < 256 ? [0x81, bytes] : [0x82, bytes >> 8, bytes & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const bits = (bytes: Buffer) => der(0x03, Buffer.from([0]), bytes)
const utcTime = (text: string) => der(0x17, Buffer.from(text))
const commonName = Buffer.from('550403', 'hex')
const ecdsaWithSha256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')))

/** A key and a self-signed certificate. */
export function selfSigned({ from = '200101000000Z', until = '491231235959Z', host = 'localhost' } = {}): {
  key: string
  cert: string
} {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(der(0x31, sequence(der(0x06, commonName), der(0x0c, Buffer.from(host)))))
  const body = sequence(
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(utcTime(from), utcTime(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const whole = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, privateKey)))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64')}\n-----END CERTIFICATE-----\n`,
  }
}
