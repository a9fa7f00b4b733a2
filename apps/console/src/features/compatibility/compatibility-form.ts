import { compatibilityProtocols } from '@keyward/contract'
import { z } from 'zod'

const valueIn = (form: RegExp, fault: string) =>
  z
    .string()
    .trim()
    .refine((value) => value === '' || form.test(value), fault)

/** Empty texts are left to the server, which makes them. */
export const compatibilitySchema = z
  .object({
    enabled: z.boolean(),
    name: z.string().trim().max(100, 'A name can have at most 100 characters'),
    ownerId: valueIn(/^[0-9A-Za-z]{10}$/, 'An owner ID has exactly 10 letters and digits'),
    secret: valueIn(/^[0-9a-f]{64}$/, 'A secret has exactly 64 characters: digits and the letters a to f'),
    protocols: z.array(z.enum(compatibilityProtocols)),
  })
  .refine(({ enabled, protocols }) => !enabled || protocols.length > 0, {
    path: ['protocols'],
    message: 'Choose a protocol',
  })

/** What each protocol is worth, weakest first. */
export const protocolFacts: Record<(typeof compatibilityProtocols)[number], string> = {
  '1.0': 'encrypted under the secret in the program',
  '1.1': 'neither signed nor encrypted',
  '1.2': 'signed with the secret in the program',
  '1.3': 'signed with a key pair: the program has only the public key',
}
