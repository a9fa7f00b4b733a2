import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { idParams, isoTime, none, text } from './shared.ts'

/** A second factor that a person can show at sign-in. */
export const factorMethod = z.enum(['totp', 'passkey', 'recovery'])

/** What the browser's WebAuthn calls take and return is defined by W3C WebAuthn Level 3, section 5.1. */
const base64url = (max: number) => z.string().min(1).max(max)
const options = z.looseObject({ challenge: z.string() })

export { options as requestOptions }

/** A credential id has at most 1023 bytes. */
const ofCredential = { id: base64url(1364), type: z.literal('public-key') }

/** A new passkey, as `PublicKeyCredential.toJSON()` returns it. Browsers add fields, which are not read. */
const newPasskey = z.object({
  ...ofCredential,
  response: z.object({
    clientDataJSON: base64url(1200),
    attestationObject: base64url(2100),
    transports: z.array(z.string().max(20)).max(8).optional(),
  }),
})

/** An answer of a passkey, as `PublicKeyCredential.toJSON()` returns it. */
const passkeyAnswer = z.object({
  ...ofCredential,
  response: z.object({
    clientDataJSON: base64url(1200),
    authenticatorData: base64url(500),
    signature: base64url(800),
    userHandle: z.string().max(100).nullish(),
  }),
})

/** A passkey of a person, without its keys. */
export const passkey = z.strictObject({
  _id: z.string(),
  name: z.string(),
  createdAt: isoTime,
  lastUsedAt: isoTime.nullable(),
})

/** Proves that a sign-in, a reset or an invitation got the password right, and opens nothing by itself. */
const challenge = z.string().min(1).max(200)
const code = z.string().trim().min(1, 'Code is required').max(40, 'This code is too long')
const recoveryCodes = z.array(z.string())

/** What a person with a second factor has to show before a call answers. */
export const secondFactorStep = z.strictObject({
  secondFactor: z.strictObject({
    challenge: z.string().describe('for POST second-factor; works for five minutes'),
    methods: z.array(factorMethod),
    options: options.nullable().describe('for `navigator.credentials.get()`; null without a passkey'),
  }),
})

/** The answer of a sign-in: a session, or a second factor is missing. */
/* @__NO_SIDE_EFFECTS__ */
export const orSecondFactor = <Session extends z.ZodType>(session: Session) =>
  z.union([session, secondFactorStep])

/** The calls about second factors below one prefix. */
/* @__NO_SIDE_EFFECTS__ */
export function secondFactorCalls<Session extends z.ZodType>(
  prefix: '/auth' | '/resellers/auth',
  session: Session,
) {
  const tag = 'Second factor'
  const own =
    prefix === '/auth'
      ? ({ access: 'owner', permission: 'self', unbudgeted: 'own account', tag } as const)
      : ({ access: 'reseller', tag } as const)
  const ofInvitation = ['invitation_invalid', 'member_exists', 'vendors_full'] as const
  const ofPeople =
    prefix === '/auth'
      ? (['no_vendor', 'vendor_disabled', ...ofInvitation] as const)
      : (['vendor_disabled'] as const)
  const sessionErrors =
    prefix === '/auth' ? (['no_vendor', 'vendor_disabled'] as const) : (['vendor_disabled'] as const)
  const stranger = { access: 'public', tag } as const
  return {
    get: endpoint({
      method: 'GET',
      path: `${prefix}/second-factor`,
      ...own,
      summary: 'Get your second factors',
      data: z.strictObject({
        totp: z.boolean(),
        passkeys: z.array(passkey),
        recoveryCodes: z.int().describe('how many are left'),
      }),
    }),
    beginTotp: endpoint({
      method: 'POST',
      path: `${prefix}/totp`,
      ...own,
      confirm: 'always',
      summary: 'Get a secret for an authenticator app; it counts once a code of it was confirmed',
      body: none,
      data: z.strictObject({
        secret: z.string().describe('base32'),
        uri: z.string().describe('for a QR code: `otpauth://totp/…`'),
      }),
      errors: ['totp_on'],
    }),
    confirmTotp: endpoint({
      method: 'POST',
      path: `${prefix}/totp/confirm`,
      ...own,
      confirm: 'always',
      summary:
        'Turn the authenticator app on with its first code; returns new recovery codes, once, which replace older ones',
      body: z.strictObject({ code }),
      data: z.strictObject({ recoveryCodes }),
      errors: ['invalid_code', 'challenge_ended', 'totp_on', 'rate_limited'],
    }),
    removeTotp: endpoint({
      method: 'DELETE',
      path: `${prefix}/totp`,
      ...own,
      confirm: 'always',
      summary: 'Turn the authenticator app off with one of its codes or a recovery code',
      body: z.strictObject({ code }),
      data: none,
      errors: ['not_found', 'invalid_code', 'rate_limited'],
    }),
    passkeyOptions: endpoint({
      method: 'POST',
      path: `${prefix}/passkeys/options`,
      ...own,
      confirm: 'always',
      summary: 'Begin to add a passkey',
      body: none,
      data: z.strictObject({ options: options.describe('for `navigator.credentials.create()`') }),
      errors: ['passkeys_full'],
    }),
    addPasskey: endpoint({
      method: 'POST',
      path: `${prefix}/passkeys`,
      ...own,
      confirm: 'always',
      summary: 'Add a passkey; as a first factor it returns recovery codes, once',
      body: z.strictObject({ name: text(1, 60, 'Name'), credential: newPasskey }),
      data: z.strictObject({
        passkey,
        recoveryCodes: recoveryCodes.nullable().describe('null if there are recovery codes already'),
      }),
      status: 201,
      errors: ['invalid_code', 'challenge_ended', 'passkeys_full', 'rate_limited'],
    }),
    removePasskey: endpoint({
      method: 'DELETE',
      path: `${prefix}/passkeys/:id`,
      ...own,
      confirm: 'always',
      summary: 'Remove a passkey',
      params: idParams,
      data: none,
      errors: ['not_found'],
    }),
    complete: endpoint({
      method: 'POST',
      path: `${prefix}/second-factor`,
      ...stranger,
      summary: 'Show a second factor and get what the call would have answered that asked for it',
      body: z
        .strictObject({
          challenge,
          code: code.optional(),
          credential: passkeyAnswer.optional(),
          recoveryCode: code.optional(),
        })
        .refine(
          ({ code, credential, recoveryCode }) =>
            [code, credential, recoveryCode].filter((proof) => proof !== undefined).length === 1,
          { path: ['code'], message: 'Send a code, a credential or a recovery code' },
        ),
      data: session,
      errors: ['invalid_code', 'challenge_ended', 'reset_link_invalid', ...ofPeople, 'rate_limited'],
    }),
    passkeyLoginOptions: endpoint({
      method: 'POST',
      path: `${prefix}/passkey-login/options`,
      ...stranger,
      summary: 'Begin to sign in with a passkey alone',
      body: none,
      data: z.strictObject({
        challenge: z.string(),
        options: options.describe('for `navigator.credentials.get()`'),
      }),
      errors: ['rate_limited'],
    }),
    passkeyLogin: endpoint({
      method: 'POST',
      path: `${prefix}/passkey-login`,
      ...stranger,
      summary: 'Sign in with a passkey alone; the device must have verified its user',
      body: z.strictObject({ challenge, credential: passkeyAnswer }),
      data: session,
      errors: ['invalid_code', 'challenge_ended', ...sessionErrors, 'rate_limited'],
    }),
  }
}

/** A code or a passkey's answer, as proof of identity of a signed-in person. */
export const factorProof = { code, credential: passkeyAnswer }
export type FactorMethod = z.output<typeof factorMethod>
export type SecondFactorStep = z.output<typeof secondFactorStep>
export type Passkey = z.output<typeof passkey>
export type NewPasskey = z.output<typeof newPasskey>
export type PasskeyAnswer = z.output<typeof passkeyAnswer>
