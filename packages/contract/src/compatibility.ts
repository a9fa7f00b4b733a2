import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { idParams, isoTime, text } from './shared.ts'

/** The protocols of KeyAuth's client libraries that a server answers. */
export const compatibilityProtocols = ['1.0', '1.1', '1.2', '1.3'] as const

const protocols = z
  .array(z.enum(compatibilityProtocols))
  .max(compatibilityProtocols.length)
  .refine((list) => new Set(list).size === list.length, 'Each protocol can be listed once')

const name = text(1, 100, 'Name').describe('the name of the app in the old system, as its programs send it')
const ownerId = z
  .string()
  .trim()
  .max(10, 'An owner ID has exactly 10 letters and digits')
  .regex(/^[0-9A-Za-z]{10}$/, 'An owner ID has exactly 10 letters and digits')
const secret = z
  .string()
  .trim()
  .max(64, 'A secret has exactly 64 characters: digits and the letters a to f')
  .regex(/^[0-9a-f]{64}$/, 'A secret has exactly 64 characters: digits and the letters a to f')

const shown = z.strictObject({
  enabled: z.boolean(),
  name: z.string().nullable().describe('null until it was saved for the first time, as all the values below'),
  ownerId: z.string().nullable(),
  secret: z.string().nullable().describe('what programs of 1.0 to 1.2 contain'),
  protocols: z.array(z.enum(compatibilityProtocols)),
  publicKey: z
    .string()
    .nullable()
    .describe('what programs of 1.3 contain: the 32 bytes of an Ed25519 key as 64 hexadecimal digits'),
  lastUsedAt: isoTime.nullable().describe('when a program last signed in or checked, to five minutes'),
  programs: z
    .int()
    .describe('how many devices used it in 30 days; addresses count for programs without a hardware id'),
})

const tag = 'Compatibility'

export const compatibility = {
  get: endpoint({
    method: 'GET',
    path: '/apps/:id/compatibility',
    access: 'owner',
    permission: 'secrets:read',
    tag,
    summary: 'Get how programs with the libraries of KeyAuth reach an app, and how many still do',
    params: idParams,
    data: shown,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/apps/:id/compatibility',
    access: 'owner',
    permission: 'secrets:write',
    tag,
    summary:
      'Turn the endpoints for the libraries of KeyAuth on or off. Values that are left out stay as they are, and are made the first time',
    params: idParams,
    body: z.strictObject({
      enabled: z.boolean(),
      name: name.optional().describe('by default the name of the app'),
      ownerId: ownerId.optional().describe('by default a new one'),
      secret: secret.optional().describe('by default a new one'),
      protocols: protocols.optional().describe('by default `1.2` and `1.3`'),
    }),
    data: shown,
    errors: ['compatibility_taken'],
  }),
}

export type Compatibility = z.output<typeof shown>
export type CompatibilityProtocol = (typeof compatibilityProtocols)[number]
