/**
 * What a vendor reads about a request that failed. No sentence contains what the server learned of an address: a name
 * without an address and one with a private address read the same, so that nobody can explore the server's network.
 */
export const outboundFailures = {
  invalid: 'This is not an address that can be called, such as https://example.com/hook.',
  unencrypted: 'The address must begin with https.',
  password: 'The address must not contain a user name or a password.',
  port: 'The port must be 443, or at least 1024.',
  host: 'The host has no public address.',
  refused: 'The server refused the connection.',
  unreachable: 'The server could not be reached.',
  connecting: 'The server did not accept a connection in time.',
  slow: 'The server did not answer in time.',
  closed: 'The server closed the connection without an answer.',
  expired: 'The certificate of the server has expired.',
  otherName: 'The certificate of the server belongs to another host.',
  untrusted: 'The certificate of the server is not signed by a known authority.',
  encryption: 'No encrypted connection could be established.',
  headers: 'The headers of the answer are too large.',
  protocol: 'The server did not answer in HTTP.',
  other: 'The request failed.',
} as const

export type OutboundFailure = keyof typeof outboundFailures

/** A request that got no answer; its message is one of the sentences. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure

  constructor(failure: OutboundFailure, cause?: unknown) {
    super(outboundFailures[failure], { cause })
    this.failure = failure
  }
}

export const refused = (failure: OutboundFailure) => new OutboundError(failure)

const byCode: Readonly<Record<string, OutboundFailure>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ETIMEDOUT: 'connecting',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'otherName',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  CERT_UNTRUSTED: 'untrusted',
  EPROTO: 'encryption',
  HPE_HEADER_OVERFLOW: 'headers',
}

/** The failure behind an error of a socket, of TLS or of the parser. */
export function toOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  const { code = '', errors } = error as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }
  // Several addresses were tried, one after another; the last one counts.
  if (errors !== undefined && errors.length > 0) return toOutboundError(errors.at(-1))
  return new OutboundError(byCode[code] ?? byPrefix(code), error)
}

function byPrefix(code: string): OutboundFailure {
  if (code.startsWith('HPE_')) return 'protocol'
  return /^(ERR_SSL_|ERR_TLS_|CERT_)/.test(code) ? 'encryption' : 'other'
}
