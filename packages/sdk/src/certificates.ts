import { KeywardNetworkError } from './errors.ts'

/** What OpenSSL and Node call a certificate that they reject, before anything of the request is sent. */
const rejections = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_CRL',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_DECRYPT_CRL_SIGNATURE',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'CERT_SIGNATURE_FAILURE',
  'CRL_SIGNATURE_FAILURE',
  'CERT_NOT_YET_VALID',
  'CERT_HAS_EXPIRED',
  'CRL_NOT_YET_VALID',
  'CRL_HAS_EXPIRED',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CRL_LAST_UPDATE_FIELD',
  'ERROR_IN_CRL_NEXT_UPDATE_FIELD',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_CHAIN_TOO_LONG',
  'CERT_REVOKED',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'HOSTNAME_MISMATCH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_TLS_CERT_ALTNAME_FORMAT',
])

/** The error of a connection whose certificate was rejected; undefined if the codes say something else. */
export function toCertificateError(
  codes: readonly string[],
  url: string,
  cause: unknown,
): KeywardNetworkError | undefined {
  const code = codes.find((each) => rejections.has(each))
  if (code === undefined) return undefined
  const facts = { outcomeUnknown: false, cause }
  const certificate = `The certificate of ${new URL(url).origin}`
  if (code === 'CERT_NOT_YET_VALID') {
    const advice = 'Set the date and time of this computer, then try again.'
    return new KeywardNetworkError('clock', `${certificate} is not valid yet (${code}). ${advice}`, facts)
  }
  const text =
    code === 'CERT_HAS_EXPIRED'
      ? `has expired (${code}). Check the date and time of this computer; if they are right, tell the vendor of this program.`
      : `is not trusted (${code}). A proxy, a virus scanner or another network may be in between; if not, tell the vendor of this program.`
  return new KeywardNetworkError('certificate', `${certificate} ${text}`, facts)
}
