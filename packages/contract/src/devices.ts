import { z } from 'zod'
import { isoTime } from './shared.ts'

/** The parts of a machine that a program can send salted hashes of. */
export const partNames = ['machine', 'board', 'disk', 'network'] as const
export type PartName = (typeof partNames)[number]

/** How many equal parts make two machines the same one; as many different parts make them two. */
export const partsThatDecide = 3

/** Serial numbers that many machines share, in lower case: they identify none of them. */
export const placeholderParts = [
  '',
  '0',
  '00000000',
  '0000000000000000',
  '00000000-0000-0000-0000-000000000000',
  '03000200-0400-0500-0006-000700080009',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '00:00:00:00:00:00',
  'ff:ff:ff:ff:ff:ff',
  '0123456789',
  '123456789',
  '1234567890',
  'chassis serial number',
  'base board serial number',
  'default string',
  'empty',
  'invalid',
  'n/a',
  'none',
  'not applicable',
  'not available',
  'not specified',
  'null',
  'o.e.m.',
  'serial',
  'system serial number',
  'to be filled by o.e.m.',
  'to be filled by o.e.m',
  'uninitialized',
  'unknown',
] as const

const part = z
  .string()
  .max(64)
  .regex(/^([0-9a-f]{64})?$/i, 'A part is 64 hex digits, or empty')
const label = z.string().max(256)

/** What a program says about its machine beside the hardware id. */
export const sentDevice = z.strictObject({
  name: label.optional().describe('the name of the machine'),
  system: label.optional().describe('the operating system'),
  parts: z
    .strictObject({
      machine: part.optional(),
      board: part.optional(),
      disk: part.optional(),
      network: part.optional(),
    })
    .optional()
    .describe('salted SHA-256 hashes of parts of the machine'),
})

/** A machine on which an end user has signed in. */
export const device = z.strictObject({
  _id: z.string(),
  name: z.string().nullable(),
  system: z.string().nullable(),
  firstSeenAt: isoTime,
  lastSeenAt: isoTime,
  freedUntil: isoTime
    .nullable()
    .describe('a program freed it while a lease ran: it keeps its place until then; null for a bound device'),
})

/** How many machines an end user has, of how many; -1 is unlimited. */
export const deviceUse = z.strictObject({ used: z.int(), limit: z.int() })

export type Device = z.output<typeof device>
export type SentDevice = z.output<typeof sentDevice>
export type DeviceUse = z.output<typeof deviceUse>
