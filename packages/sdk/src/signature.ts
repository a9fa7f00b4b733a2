import { platform } from '#platform'
import { equal, fromUtf8, toBase64, toUtf8 } from './bytes.ts'
import { KeywardNetworkError, KeywardSignatureError, type SignatureErrorCode } from './errors.ts'
import type { KeyRing } from './keys.ts'
import {
  type InnerList,
  type Item,
  type Parameters,
  parseDictionary,
  StructuredFieldError,
  serializeString,
} from './structured-fields.ts'

const label = 'keyward'
/** No genuine response is larger; reading stops beyond. */
export const maxAnswerBytes = 256 * 1024

/** The parts of a request that the response's signature must cover. */
export interface SentRequest {
  method: string
  /** Path of the public URL, percent-encoded as sent, without the query. */
  path: string
  nonce: string
  authorization?: string
  contentDigest?: string
}

export interface ReceivedAnswer {
  status: number
  headers: { get(name: string): string | null }
  /** The raw bytes, before any parsing; cut off somewhere beyond `maxAnswerBytes`. */
  body: Uint8Array
}

/** The value of `Content-Digest` (RFC 9530) for a body. */
export async function contentDigest(body: Uint8Array): Promise<string> {
  return `sha-256=:${toBase64(await platform.sha256(body))}:`
}

/** The components that a response must cover, in the protocol's order, with the expected values. */
function expectedComponents(sent: SentRequest, answer: ReceivedAnswer): [name: string, value: string][] {
  const components: [string, string][] = [
    ['"@status"', String(answer.status)],
    ['"content-digest"', header(answer, 'content-digest')],
    ['"@method";req', sent.method],
    ['"@path";req', sent.path],
    ['"keyward-nonce";req', sent.nonce],
  ]
  if (sent.authorization !== undefined) components.push(['"authorization";req', sent.authorization])
  if (sent.contentDigest !== undefined) components.push(['"content-digest";req', sent.contentDigest])
  return components
}

/** The text that the server signed (RFC 9421, section 2.5). */
export function signatureBase(
  sent: SentRequest,
  answer: ReceivedAnswer,
  parameters: { created: number; keyid: string },
): string {
  const components = expectedComponents(sent, answer)
  const covered = components.map(([name]) => name).join(' ')
  const params = `created=${parameters.created};keyid=${serializeString(parameters.keyid)};alg="ed25519"`
  return [
    ...components.map(([name, value]) => `${name}: ${value}`),
    `"@signature-params": (${covered});${params}`,
  ].join('\n')
}

interface Judged {
  outcome: 'verdict' | 'unavailable'
  /** When the server signed it, in seconds since 1970; undefined without a signature. */
  created: number | undefined
}

/**
 * Classifies a response as a `verdict`, or as `unavailable` (429 and 5xx, signed or not). Rejects with
 * `KeywardNetworkError` for any other response without a signature, and with `KeywardSignatureError` for one whose
 * signature fails.
 */
export async function judge(sent: SentRequest, answer: ReceivedAnswer, keys: KeyRing): Promise<Judged> {
  const unavailable = answer.status === 429 || answer.status >= 500
  const signed = isSigned(answer)
  if (!signed && (!unavailable || answer.status === 511)) throw toStranger(answer)
  const verified = signed ? await verifyAnswer(sent, answer, keys) : undefined
  return { outcome: unavailable ? 'unavailable' : 'verdict', created: verified?.created }
}

/**
 * Explains an unsigned response: a captive portal, another site, a missing app, or something on the way. Anyone on the
 * network can send these, as they can drop the request, so they are never a verdict.
 */
function toStranger(answer: ReceivedAnswer): KeywardNetworkError {
  const { status } = answer
  const isPage = /^(?:text\/html|application\/xhtml\+xml)\b/i.test(header(answer, 'content-type'))
  // Browsers hide redirects behind the status 0.
  if (isPage || status === 0 || status === 511 || (status >= 300 && status < 400)) {
    const message = 'A web page answered: a captive portal, or baseUrl is the address of another site'
    return new KeywardNetworkError('captive_portal', message, { status, outcomeUnknown: true })
  }
  const facts = { status, outcomeUnknown: false }
  if (status === 404 || status === 405) {
    const message = `No Keyward server answers at baseUrl (status ${status})`
    return new KeywardNetworkError('wrong_address', message, facts)
  }
  if (status === 403 && readCode(answer) === 'appDisabled') {
    return new KeywardNetworkError('unknown_app', 'The server has no app with this appId', facts)
  }
  const message = `A firewall, a proxy or another server answered in place of the server (status ${status})`
  return new KeywardNetworkError('blocked', message, { status, outcomeUnknown: true })
}

function readCode(answer: ReceivedAnswer): unknown {
  try {
    return JSON.parse(fromUtf8(answer.body)).code
  } catch {
    return undefined
  }
}

/** Whether a response has a signature with the protocol's label, valid or not. */
export function isSigned(answer: ReceivedAnswer): boolean {
  return [header(answer, 'signature'), header(answer, 'signature-input')].some((value) => {
    if (value === '') return false
    try {
      return parseDictionary(value).has(label)
    } catch {
      // Malformed is not absent: the verification reports what is wrong.
      return true
    }
  })
}

/**
 * Verifies that a response is genuine, complete and meant for exactly this request. Returns the server's signing time
 * in seconds; rejects with `KeywardSignatureError` otherwise.
 */
export async function verifyAnswer(
  sent: SentRequest,
  answer: ReceivedAnswer,
  keys: KeyRing,
): Promise<{ created: number }> {
  const refuse = (code: SignatureErrorCode, message: string): never => {
    throw new KeywardSignatureError(code, `${message} (${sent.method} ${sent.path})`, answer.status)
  }
  const dictionary = (name: string): Map<string, Item | InnerList> => {
    try {
      return parseDictionary(header(answer, name))
    } catch (error) {
      if (!(error instanceof StructuredFieldError)) throw error
      return refuse('malformed_signature', `${name}: ${error.message}`)
    }
  }

  if (answer.body.byteLength > maxAnswerBytes) {
    refuse('body_too_large', `The answer is larger than ${maxAnswerBytes} bytes`)
  }
  const input = dictionary('signature-input').get(label)
  const signature = dictionary('signature').get(label)
  if (input?.kind !== 'list' || signature?.kind !== 'item' || signature.value.type !== 'bytes') {
    return refuse('malformed_signature', 'The signature is incomplete')
  }
  if (signature.value.value.length !== 64 || signature.params.size > 0) {
    return refuse('malformed_signature', 'The signature is not one of Ed25519')
  }

  const expected = expectedComponents(sent, answer).map(([name]) => name)
  const covered = input.items.map(componentName)
  if (covered.length !== expected.length || covered.some((name, index) => name !== expected[index])) {
    refuse('wrong_coverage', `The signature must cover ${expected.join(' ')}`)
  }
  const parameters =
    readParameters(input.params) ?? refuse('wrong_parameters', 'The signature has other parameters')
  const verify =
    keys.get(parameters.keyid) ?? refuse('unknown_key', `Signed with the unknown key ${parameters.keyid}`)
  if (!(await digestMatches(answer))) refuse('digest_mismatch', 'The body does not match its Content-Digest')

  const base = toUtf8(signatureBase(sent, answer, parameters))
  if (!(await verify(base, signature.value.value))) {
    refuse('bad_signature', 'The signature is not of this answer to this request')
  }
  return { created: parameters.created }
}

function componentName({ value, params }: Item): string {
  if (value.type !== 'string') return ''
  const suffix = [...params].map(([key, flag]) =>
    flag.type === 'boolean' && flag.value ? `;${key}` : `;${key}=?`,
  )
  return serializeString(value.value) + suffix.join('')
}

function readParameters(params: Parameters): { created: number; keyid: string } | undefined {
  if ([...params.keys()].join() !== 'created,keyid,alg') return undefined
  const created = params.get('created')
  const keyid = params.get('keyid')
  const alg = params.get('alg')
  if (created?.type !== 'integer' || created.value < 0) return undefined
  if (keyid?.type !== 'string' || alg?.type !== 'string' || alg.value !== 'ed25519') return undefined
  return { created: created.value, keyid: keyid.value }
}

async function digestMatches(answer: ReceivedAnswer): Promise<boolean> {
  let digest: Item | InnerList | undefined
  try {
    digest = parseDictionary(header(answer, 'content-digest')).get('sha-256')
  } catch {
    return false
  }
  if (digest?.kind !== 'item' || digest.value.type !== 'bytes') return false
  return equal(digest.value.value, await platform.sha256(answer.body))
}

function header(answer: ReceivedAnswer, name: string): string {
  return (answer.headers.get(name) ?? '').trim()
}
