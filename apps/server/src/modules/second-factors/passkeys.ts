import type { NewPasskey, PasskeyAnswer } from '@keyward/contract'
import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import { minute } from '../../core/clock.ts'
import type { PasskeyRow } from '../../db/tables.ts'
import type { Holder } from '../sessions/sessions.service.ts'

// W3C Web Authentication Level 3. The library is loaded at the first passkey: it needs 30 MB.
const load = () => import('@simplewebauthn/server')

/** The relying party: the host that passkeys belong to, and the origins that may ask for them. */
export interface Site {
  host: string
  /** Undefined for `localhost` on any port, where a server without PUBLIC_URL is reached. */
  origin: string | undefined
}

export function siteOf({ publicUrl }: { publicUrl: string | undefined }): Site {
  if (publicUrl === undefined) return { host: 'localhost', origin: undefined }
  const { hostname, origin } = new URL(publicUrl)
  return { host: hostname, origin }
}

const timeoutMs = 5 * minute

/** What a passkey stores as its user, and returns when it signs in alone. */
export const userHandleOf = ({ kind, id }: Holder): string =>
  Buffer.from(`${kind}:${id}`).toString('base64url')

type Descriptor = Pick<PasskeyRow, 'credential_id' | 'transports'>

const toDescriptor = ({ credential_id, transports }: Descriptor) => ({
  id: credential_id,
  type: 'public-key' as const,
  transports: JSON.parse(transports) as AuthenticatorTransport[],
})

/** Options for `navigator.credentials.create()`. Keys without user verification are welcome as a second factor. */
export const toCreationOptions = (
  site: Site,
  user: { holder: Holder; name: string },
  { challenge, passkeys }: { challenge: string; passkeys: Descriptor[] },
): PublicKeyCredentialCreationOptionsJSON => ({
  rp: { id: site.host, name: 'Keyward' },
  user: { id: userHandleOf(user.holder), name: user.name, displayName: user.name },
  challenge,
  pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
  timeout: timeoutMs,
  excludeCredentials: passkeys.map(toDescriptor),
  authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  attestation: 'none',
})

/** ES256, EdDSA and RS256: what authenticators of today sign with. */
const algorithms = [-7, -8, -257]

/** Options for `navigator.credentials.get()`; without passkeys the person chooses one of the device. */
export const toRequestOptions = (
  site: Site,
  { challenge, passkeys }: { challenge: string; passkeys?: Descriptor[] },
): PublicKeyCredentialRequestOptionsJSON => ({
  rpId: site.host,
  challenge,
  timeout: timeoutMs,
  allowCredentials: passkeys?.map(toDescriptor) ?? [],
  userVerification: passkeys ? 'preferred' : 'required',
})

/** What the browser says that it answers; not verified yet. */
export function readClientData({ response }: NewPasskey | PasskeyAnswer): {
  challenge: string
  origin: string
} {
  try {
    const { challenge, origin } = JSON.parse(
      Buffer.from(response.clientDataJSON, 'base64url').toString('utf8'),
    )
    return { challenge: String(challenge), origin: String(origin) }
  } catch {
    return { challenge: '', origin: '' }
  }
}

function expectedOrigin({ origin }: Site, sent: string): string {
  if (origin !== undefined) return origin
  return /^https?:\/\/localhost(:\d{1,5})?$/.test(sent) ? sent : 'http://localhost'
}

type VerifiedPasskey = Pick<PasskeyRow, 'credential_id' | 'public_key' | 'counter' | 'transports'>

/** The key of a new passkey (W3C WebAuthn, section 7.1); undefined if it does not answer the challenge. */
export async function verifyNewPasskey(
  site: Site,
  passkey: NewPasskey,
  challenge: string,
): Promise<VerifiedPasskey | undefined> {
  const { verifyRegistrationResponse } = await load()
  const transports = (passkey.response.transports ?? []) as AuthenticatorTransport[]
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: passkey.id,
        rawId: passkey.id,
        type: passkey.type,
        clientExtensionResults: {},
        response: { ...passkey.response, transports },
      },
      expectedChallenge: challenge,
      expectedOrigin: expectedOrigin(site, readClientData(passkey).origin),
      expectedRPID: site.host,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    })
    if (!verified) return undefined
    const { id, publicKey, counter } = registrationInfo.credential
    return {
      credential_id: id,
      public_key: Buffer.from(publicKey).toString('base64url'),
      counter,
      transports: JSON.stringify(transports),
    }
  } catch {
    return undefined
  }
}

/** The new count of an answer that this passkey signed (W3C WebAuthn, section 7.2); undefined for every other answer. */
export async function verifyAnswer(
  site: Site,
  passkey: PasskeyRow,
  answer: PasskeyAnswer,
  expected: { challenge: string; isUserVerified: boolean },
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await load()
  const { userHandle, ...response } = answer.response
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id: answer.id,
        rawId: answer.id,
        type: answer.type,
        clientExtensionResults: {},
        response: { ...response, userHandle: userHandle ?? undefined },
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: expectedOrigin(site, readClientData(answer).origin),
      expectedRPID: site.host,
      requireUserVerification: expected.isUserVerified,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
        counter: passkey.counter,
      },
    })
    return verified ? authenticationInfo.newCounter : undefined
  } catch {
    return undefined
  }
}
