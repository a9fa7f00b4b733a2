import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { idParams, instant, isoTime, text } from './shared.ts'

/** The protocols of KeyAuth's programs. */
export const oldProtocols = ['1.0', '1.1', '1.2', '1.3'] as const

const url = z
  .string()
  .trim()
  .min(1, 'Address is required')
  .max(limits.webhookUrlMax, `Address can have at most ${limits.webhookUrlMax} characters`)
  .describe('the address that the old programs call, such as `https://keyauth.win/api/1.2/`')

const settings = {
  url,
  protocol: z.enum(oldProtocols),
  name: text(1, 70, 'Application name').describe('the app’s name at the old provider'),
  ownerId: z
    .string()
    .trim()
    .max(10, 'An owner id has 10 letters and digits')
    .regex(/^[0-9A-Za-z]{10}$/, 'An owner id has 10 letters and digits')
    .describe('the account’s owner id at the old provider'),
  secret: z
    .string()
    .trim()
    .max(128, 'The secret can have at most 128 characters, without spaces')
    .regex(/^[\x21-\x7e]{1,128}$/, 'The secret can have at most 128 characters, without spaces')
    .nullable()
    .describe('the app’s secret at the old provider: encrypts requests of 1.0 and verifies answers of 1.2'),
  publicKey: z
    .string()
    .trim()
    .toLowerCase()
    .max(64, 'A public key has 64 hexadecimal digits')
    .regex(/^[0-9a-f]{64}$/, 'A public key has 64 hexadecimal digits')
    .nullable()
    .describe('verifies answers of 1.3'),
}

/** Why answers of a protocol could never be verified with what is set. */
function findMisfit(body: {
  protocol: (typeof oldProtocols)[number]
  secret?: string | null | undefined
  publicKey?: string | null | undefined
}): { path: 'secret' | 'publicKey'; message: string } | undefined {
  const { protocol, secret, publicKey } = body
  if (protocol === '1.0' && !secret) return { path: 'secret', message: 'Protocol 1.0 needs the secret' }
  if (protocol === '1.1' && secret)
    return { path: 'secret', message: 'Protocol 1.1 signs nothing: leave the secret empty' }
  if (protocol === '1.3' && secret && !publicKey)
    return { path: 'publicKey', message: 'Protocol 1.3 signs with a key pair: enter its public key' }
  if (protocol !== '1.3' && publicKey)
    return { path: 'publicKey', message: 'Only protocol 1.3 signs with a key pair: leave it empty' }
  return undefined
}

/** What a vendor enters about the provider that it leaves. */
export const newLazyMove = z
  .strictObject({
    ...settings,
    secret: settings.secret.optional(),
    publicKey: settings.publicKey.optional(),
    until: instant
      .nullable()
      .describe('until when unknown names and keys are asked for at the old provider; null turns it off'),
  })
  .check((context) => {
    const misfit = findMisfit(context.value)
    if (!misfit) return
    const { path, message } = misfit
    context.issues.push({ code: 'custom', path: [path], message, input: context.value })
  })

export const lazyMoveSettings = z.strictObject({
  url: z.string().nullable().describe('null before it was ever set; then all settings are null'),
  protocol: z.enum(oldProtocols).nullable(),
  name: z.string().nullable(),
  ownerId: z.string().nullable(),
  secret: z.string().nullable(),
  publicKey: z.string().nullable(),
  until: isoTime.nullable(),
  moved: z.int().describe('end users that were taken over'),
  failed: z.int().describe('requests to the old provider after which nothing was taken over'),
  lastFailure: z
    .strictObject({ at: isoTime, reason: z.string() })
    .nullable()
    .describe('why the last of them failed'),
})

const tag = 'Compatibility'

export const lazyMove = {
  get: endpoint({
    method: 'GET',
    path: '/apps/:id/lazy-move',
    access: 'owner',
    permission: 'secrets:read',
    tag,
    summary: 'Get from which old provider end users move at their next sign-in, and how many have',
    params: idParams,
    data: lazyMoveSettings,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/apps/:id/lazy-move',
    access: 'owner',
    permission: ['secrets:write', 'licenses:write'],
    tag,
    summary:
      'Let end users move at their next sign-in: a name or key that never existed here is asked for once at the old provider, and taken over if it accepts the sign-in. An omitted `secret` or `publicKey` is removed',
    params: idParams,
    body: newLazyMove,
    data: lazyMoveSettings,
  }),
}

export type LazyMove = z.output<typeof lazyMoveSettings>
export type OldProtocol = (typeof oldProtocols)[number]
