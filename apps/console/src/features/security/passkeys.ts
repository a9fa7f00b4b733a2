import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'

/** A passkey's answer, as JSON. */
export type PasskeyAnswer = AuthenticationResponseJSON

const load = () => import('@simplewebauthn/browser')

/** Whether this browser can use passkeys here. They belong to a host name and need a secure context. */
export const passkeysWork = () =>
  window.isSecureContext && 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(location.hostname)

/** Why the browser returned no passkey, in words for its user. */
export class PasskeyError extends Error {
  override name = 'PasskeyError'
}

/** Makes a passkey on this device, or on one that the browser can reach. */
export async function createPasskey(options: object): Promise<RegistrationResponseJSON> {
  const { startRegistration } = await load()
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON
  return startRegistration({ optionsJSON }).catch(inWords)
}

/** Asks for a passkey that answers the server's challenge. */
export async function askPasskey(options: object): Promise<PasskeyAnswer> {
  const { startAuthentication } = await load()
  const optionsJSON = options as PublicKeyCredentialRequestOptionsJSON
  return startAuthentication({ optionsJSON }).catch(inWords)
}

function inWords(error: Error): never {
  throw new PasskeyError(textOf(error.name), { cause: error })
}

function textOf(name: string) {
  switch (name) {
    case 'NotAllowedError':
    case 'AbortError':
      return 'The browser got no passkey. Please try again.'
    case 'InvalidStateError':
      return 'This device has a passkey of your account already.'
    case 'SecurityError':
      return 'Passkeys of this server do not work at this address.'
    default:
      return 'The browser could not use a passkey.'
  }
}
