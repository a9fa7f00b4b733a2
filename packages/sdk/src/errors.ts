/** `KeywardNetworkError.code`: why there is no usable response. */
export type NetworkErrorCode =
  /** No connection was established; the request was not sent. */
  | 'unreachable'
  /** The server's certificate is not trusted, has expired, or is of another name; the request was not sent. */
  | 'certificate'
  /** The server's certificate is not valid yet: the clock of this computer is behind; the request was not sent. */
  | 'clock'
  /** The connection broke before the response was complete. */
  | 'connection_lost'
  /** `timeoutMs` elapsed, including retries. */
  | 'timed_out'
  /** The server responded with 429; `retryAfterMs` is set if it sent Retry-After. */
  | 'rate_limited'
  /** The server responded with 5xx. */
  | 'server_error'
  /** A web page or a redirect answered: a sign-in page of the network (captive portal), or `baseUrl` is another site. */
  | 'captive_portal'
  /** The server at `baseUrl` has no such call: `baseUrl` is wrong, or the server is older than this SDK. Or an update is not at its address. */
  | 'wrong_address'
  /** The server knows no app with this `appId`, and therefore cannot sign. */
  | 'unknown_app'
  /** Something else answered, without the server's signature: a firewall, a proxy, a content network; see `status`. */
  | 'blocked'
  /** The response is genuine, but this version of the SDK does not understand it. */
  | 'unexpected_answer'

/** `KeywardSignatureError.code`: why a response was rejected. */
export type SignatureErrorCode =
  /** `Signature` or `Signature-Input` cannot be parsed, or one of them is missing. */
  | 'malformed_signature'
  /** The signature does not cover exactly the components that the protocol requires, in its order. */
  | 'wrong_coverage'
  /** The parameters are not `created`, `keyid` and `alg="ed25519"`. */
  | 'wrong_parameters'
  /** Signed with a key that is not in `publicKeys`. */
  | 'unknown_key'
  /** The body does not match `Content-Digest`, or a downloaded update the digest that the server has signed. */
  | 'digest_mismatch'
  /** The signature does not match this request and response. */
  | 'bad_signature'
  /** The body of a signed response is larger than any of a server (256 KiB). */
  | 'body_too_large'

/** `KeywardUsageError.code`: a mistake in the calling program. */
export type UsageErrorCode =
  /** A constructor option is missing or invalid. */
  | 'invalid_options'
  /** An argument of a call is missing or has the wrong type. */
  | 'invalid_argument'
  /** No unique hardware id was found on this machine; pass `hwid`. */
  | 'hwid_unavailable'
  /** The machine's id exists but could not be read, in three attempts; try again later, or pass `hwid`. */
  | 'hwid_unreadable'
  /** The activation file is not for this app, this machine or its last request, it has ended, or the clock is behind. */
  | 'activation_rejected'
  /** There is no activation that could be ended. */
  | 'no_activation'
  /** The storage cannot be read or written, so nothing was changed; or the folder of an update cannot. */
  | 'storage_failed'
  /** Web Crypto, or Ed25519 in it, is missing in this browser or on this page. */
  | 'crypto_unavailable'

/** Base class of all errors that the SDK throws. A refused license is a result, not an error. */
export class KeywardError extends Error {
  override readonly name: string = 'KeywardError'
  readonly code: string

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** No verdict, because there is no usable response. Retry later; do not treat it as a refusal. */
export class KeywardNetworkError extends KeywardError {
  override readonly name = 'KeywardNetworkError'
  declare readonly code: NetworkErrorCode
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined
  /** How long the server asks to wait, in milliseconds, if it sent Retry-After. */
  readonly retryAfterMs: number | undefined
  /**
   * True if the server may have executed the call although no response arrived. After `register`, try `login` with
   * the same username and password; after `upgrade`, check the user's expiry.
   */
  readonly outcomeUnknown: boolean
  /** Why neither lease nor activation could stand in for the server, with the option `storage`. */
  offline?: 'no_lease' | 'lease_ended' | 'clock_set_back'

  constructor(
    code: NetworkErrorCode,
    message: string,
    facts: { status?: number; retryAfterMs?: number; outcomeUnknown: boolean; cause?: unknown },
  ) {
    super(code, message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.status = facts.status
    this.retryAfterMs = facts.retryAfterMs
    this.outcomeUnknown = facts.outcomeUnknown
  }
}

/** A response with a signature that does not prove it to be the server's response to this request. Do not continue. */
export class KeywardSignatureError extends KeywardError {
  override readonly name = 'KeywardSignatureError'
  declare readonly code: SignatureErrorCode
  /** The HTTP status of the rejected response. */
  readonly status: number

  constructor(code: SignatureErrorCode, message: string, status: number) {
    super(code, message)
    this.status = status
  }
}

/** A mistake in the calling program; retrying does not help. */
export class KeywardUsageError extends KeywardError {
  override readonly name = 'KeywardUsageError'
  declare readonly code: UsageErrorCode

  constructor(code: UsageErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options)
  }
}
