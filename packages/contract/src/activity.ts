import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import type { MessageKey } from './errors.ts'
import { messageDefaults } from './messages.ts'
import { appFilter, appRef, id, instant, isoTime, pageQuery, pagination, search, userRef } from './shared.ts'

const codes = Object.keys(messageDefaults) as [MessageKey, ...MessageKey[]]
const code = z.enum(codes)

/** What programs do, apart from refusals. */
export const activityKinds = [
  'init',
  'end_user.registered',
  'end_user.moved',
  'end_user.signed_in',
  'end_user.signed_out',
  'end_user.lease_issued',
  'license.redeemed',
  'licenses.created',
  'device.bound',
  'device.drifted',
  'device.remembered',
  'device.forgotten',
  'device.freed',
  'end_user.activated_offline',
  'end_user.deactivated_offline',
  'program.logged',
  'dropped',
] as const

/** Something that a program did, or a refusal. */
const event = z.strictObject({
  reference: z.string().describe('names this event; programs get it with a refusal'),
  kind: z.string().describe('`init`, `refused`, `dropped` (events that were not kept), or a recorded action'),
  app: appRef.nullable(),
  client: userRef.nullable(),
  call: z.string().nullable(),
  code: code.nullable(),
  subject: z.string().nullable().describe('the username or key that the program sent'),
  address: z.string().nullable().describe('of a `gathered` event the network, if the caller was not known'),
  times: z.int().describe('how often it happened within a minute; a `gathered` one within an hour'),
  gathered: z
    .boolean()
    .describe('counts different events of one kind and one end user, or of unknown callers of one network'),
  at: isoTime,
  lastAt: isoTime,
})

/** One check in the order of the verdict, with what it found. */
const check = z.strictObject({ code, passed: z.boolean() })
const state = z.strictObject({
  code: code.nullable().describe('the reason for refusal; null if the program may run'),
  checks: z.array(check),
  expiresAt: isoTime.nullable(),
})

/** What one click changes so that the program is not refused for this reason again. */
const fix = z.strictObject({
  action: z.enum([
    'resume_platform',
    'resume_app',
    'allow_hash',
    'unban_client',
    'unban_license',
    'resume_client',
    'extend_client',
    'extend_license',
    'unblock',
    'reset_hwid',
    'allow_address',
  ]),
  /** The `_id` of what is changed; the app's for settings. */
  target: z.string(),
  value: z.string().nullable(),
})

const tag = 'Activity'

export const activity = {
  list: endpoint({
    method: 'GET',
    path: '/activity',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary:
      'List what programs did and why they were refused, newest first; search matches usernames, license keys, devices, and the beginning of typed names and keys, addresses and references',
    query: pageQuery.extend({
      app: appFilter,
      client: id.optional(),
      license: id
        .optional()
        .describe('events of its end user, and refusals of its key, which may have no end user yet'),
      kind: z
        .enum([...activityKinds, 'activations'])
        .optional()
        .describe('events that are no refusals; `activations`: first uses of licenses by programs'),
      code: z
        .union([code, z.literal('any')])
        .optional()
        .describe('a reason for refusal; `any`: all refusals'),
      from: instant.optional(),
      to: instant.optional(),
      search,
    }),
    data: z.strictObject({ events: z.array(event), pagination }),
  }),
  explain: endpoint({
    method: 'GET',
    path: '/activity/:reference',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary: 'Explain a refusal: what was refused and why, the state then and now, and what would change it',
    params: z.object({ reference: z.string().min(1).max(64) }),
    data: z.strictObject({
      event,
      explanation: z
        .strictObject({
          title: z.string(),
          why: z.string(),
          advice: z.string(),
          before: state,
          now: state.nullable().describe('null if it cannot be determined: no end user or license is known'),
          fix: fix.nullable(),
        })
        .nullable()
        .describe('null for what was not refused'),
    }),
  }),
}

export type ActivityFilterKind = ActivityKind | 'activations'
export type ActivityKind = (typeof activityKinds)[number]
export type ActivityEvent = z.output<typeof event>
export type Fix = z.output<typeof fix>
export type RefusalState = z.output<typeof state>
