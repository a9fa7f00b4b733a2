import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { factorMethod, factorProof, requestOptions } from './second-factor.ts'
import { idParams, isoTime, none, signInPassword, trimmed } from './shared.ts'

/** A place where a person is signed in. */
export const accountSession = z.strictObject({
  _id: z.string(),
  current: z.boolean().describe('whether it is the session of this request'),
  address: z.string().nullable().describe('where it was used last; null if unknown'),
  agent: z.string().nullable().describe('the User-Agent of its sign-in, shortened; null if unknown'),
  createdAt: isoTime,
  lastUsedAt: isoTime.describe('precise to about ten minutes'),
})

const sessions = z.strictObject({ sessions: z.array(accountSession).max(limits.accountSessionsMax) })

/** Exactly one proof of identity. */
const proof = (password: z.ZodType<string, string>) =>
  z
    .strictObject({ password, ...factorProof })
    .partial()
    .refine((body) => Object.values(body).filter((value) => value !== undefined).length === 1, {
      path: ['password'],
      message: 'Send the password, a code or a credential',
    })

/* @__NO_SIDE_EFFECTS__ */
function callsBelow(prefix: '/auth' | '/resellers/auth') {
  const own =
    prefix === '/auth'
      ? ({ access: 'owner', permission: 'self', unbudgeted: 'own account', tag: 'Auth' } as const)
      : ({ access: 'reseller', unbudgeted: 'own account', tag: 'Reseller portal' } as const)
  return {
    list: endpoint({
      method: 'GET',
      path: `${prefix}/sessions`,
      ...own,
      summary: 'List where you are signed in, last used first',
      data: sessions,
    }),
    end: endpoint({
      method: 'DELETE',
      path: `${prefix}/sessions/:id`,
      ...own,
      summary: 'End one of your sessions',
      params: idParams,
      data: none,
      errors: ['not_found'],
    }),
    endOthers: endpoint({
      method: 'DELETE',
      path: `${prefix}/sessions`,
      ...own,
      summary: 'End all of your sessions except that of this request',
      data: none,
    }),
    confirmOptions: endpoint({
      method: 'POST',
      path: `${prefix}/confirm/options`,
      ...own,
      summary: `Get what POST ${prefix}/confirm accepts from you`,
      body: none,
      data: z.strictObject({
        methods: z.array(z.enum(['password', ...factorMethod.exclude(['recovery']).options])).max(3),
        options: requestOptions
          .nullable()
          .describe('for `navigator.credentials.get()`; null without a passkey'),
      }),
    }),
    confirm: endpoint({
      method: 'POST',
      path: `${prefix}/confirm`,
      ...own,
      summary: `Prove who you are for the next ${limits.identityMinutes} minutes of this session: by the password, or on an account with a second factor by a code or a passkey`,
      body: proof(prefix === '/auth' ? signInPassword : trimmed(signInPassword)),
      data: none,
      errors: ['invalid_code', 'challenge_ended', 'rate_limited', 'busy'],
    }),
  }
}

/** Sessions and proof of identity of people who work for a vendor. */
export const accountSessions = callsBelow('/auth')

/** The same for resellers. */
export const portalSessions = callsBelow('/resellers/auth')

export type AccountSession = z.output<typeof accountSession>
