/** What went wrong on the way to an answer, as `KeywardNetworkError.code`. */
export type NetworkErrorCode =
  /** No connection was made; the request never left. */
  | 'unreachable'
  /** The connection broke before the whole answer was here. */
  | 'connection_lost'
  /** `timeoutMs` passed, retries included. */
  | 'timed_out'
  /** Answered 429; `retryAfterMs` says how long to wait, where the server said it. */
  | 'rate_limited'
  /** Answered 5xx. */
  | 'server_error'
  /** The answer is genuine, but not one that this version of the SDK understands. */
  | 'unexpected_answer'

/** Why an answer was not believed, as `KeywardSignatureError.code`. */
export type SignatureErrorCode =
  /** No signature under the label `keyward`. */
  | 'unsigned'
  /** `Signature` or `Signature-Input` cannot be parsed, or only one of them is there. */
  | 'malformed_signature'
  /** The signature does not cover exactly what was sent and received, in the order of the protocol. */
  | 'wrong_coverage'
  /** The parameters are not `created`, `keyid` and `alg="ed25519"`. */
  | 'wrong_parameters'
  /** Signed with a key that is not among `publicKeys`. */
  | 'unknown_key'
  /** The body is not the one that `Content-Digest` describes. */
  | 'digest_mismatch'
  /** The signature is not of this answer to this request. */
  | 'bad_signature'
  /** The body is larger than any answer of a server (256 KiB). */
  | 'body_too_large'

/** A mistake in the calling program, as `KeywardUsageError.code`. */
export type UsageErrorCode =
  /** An option of the constructor is missing or wrong. */
  | 'invalid_options'
  /** An argument of a call is missing or of the wrong type. */
  | 'invalid_argument'
  /** This machine has nothing to tell it from another by; pass `hwid`. */
  | 'hwid_unavailable'

/** The base of everything that the SDK throws. A license that is refused is a result, not an error. */
export class KeywardError extends Error {
  override readonly name: string = 'KeywardError'
  readonly code: string

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** There is no verdict because there is no usable answer. Try again later; do not treat it as "refused". */
export class KeywardNetworkError extends KeywardError {
  override readonly name = 'KeywardNetworkError'
  declare readonly code: NetworkErrorCode
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined
  /** How long the server asks to wait, in milliseconds, where it said so. */
  readonly retryAfterMs: number | undefined
  /**
   * True when the server may have carried the call out although no answer came. After `register`, try
   * `login` with the same name and password; after `upgrade`, look at the user's expiry.
   */
  readonly outcomeUnknown: boolean

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

/** An answer came, but nothing proves that it is the server's answer to this request. Do not work on. */
export class KeywardSignatureError extends KeywardError {
  override readonly name = 'KeywardSignatureError'
  declare readonly code: SignatureErrorCode
  /** The HTTP status of the answer that was not believed. */
  readonly status: number

  constructor(code: SignatureErrorCode, message: string, status: number) {
    super(code, message)
    this.status = status
  }
}

/** The calling program made a mistake; repeating the call will not help. */
export class KeywardUsageError extends KeywardError {
  override readonly name = 'KeywardUsageError'
  declare readonly code: UsageErrorCode

  constructor(code: UsageErrorCode, message: string) {
    super(code, message)
  }
}
