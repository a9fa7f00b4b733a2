import { z } from 'zod'
import { user } from './auth.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { appFilter, appRef, bans, isoTime } from './shared.ts'

const comparison = `Created in the last ${limits.activityDays} days minus created in the ${limits.activityDays} days before; deletions are not subtracted`
const figure = z.strictObject({
  value: z.int().describe('The current count'),
  change: z.int().describe(comparison),
  added: z
    .int()
    .min(0)
    .describe(
      `Created (active licenses: activated) in the last ${limits.activityDays} days; exceeds the value if some were deleted`,
    ),
})
const soon = `the next ${limits.expiringSoonDays} days`

const dashboardStats = z.strictObject({
  totalLicenses: figure,
  activeLicenses: figure,
  totalResellers: figure,
  totalClients: figure,
  expiringSoon: z.strictObject({
    value: z.int().describe(`Used licenses that expire in ${soon}`),
    change: z.int().describe(`Expiring in ${soon} minus expired in the last ${limits.expiringSoonDays}`),
  }),
})

/** Something that waits for the caller. */
const attention = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('orders_waiting'),
    count: z.int().describe(`${limits.attentionMax} for as many or more`),
  }),
  z.strictObject({ kind: z.literal('webhook_paused'), _id: z.string(), origin: z.string() }),
  z.strictObject({
    kind: z.literal('reseller_quota'),
    _id: z.string(),
    email: z.string(),
    remaining: z.int(),
  }),
  z.strictObject({ kind: z.literal('api_key_ends'), _id: z.string(), name: z.string(), expiresAt: isoTime }),
  z.strictObject({
    kind: z.literal('refusals_rise'),
    app: appRef,
    recent: z.int().describe('about the last 24 hours'),
    usual: z.int().describe('a day of the week before'),
  }),
  z.strictObject({ kind: z.literal('address_unconfirmed'), email: z.string() }),
  z.strictObject({ kind: z.literal('backups_fail') }),
])

const tag = 'Dashboard'

export const dashboard = {
  data: endpoint({
    method: 'GET',
    path: '/resellers/dashboard/data',
    access: 'owner',
    permission: 'licenses:read',
    tag,
    summary: 'Get the statistics of the dashboard',
    query: z.object({ banned: bans }),
    data: z.strictObject({ user, stats: dashboardStats }),
  }),
  attention: endpoint({
    method: 'GET',
    path: '/attention',
    access: 'owner',
    permission: 'self',
    tag,
    summary:
      'List what waits for the signed-in person, as far as its role may read it: waiting orders, webhooks that the server paused, resellers and API keys near their end, refusals that rise, an address without a confirmation, and failing backups for the operator',
    data: z.strictObject({
      attention: z.array(attention),
      sendsMail: z.boolean().describe('whether this server sends mail'),
    }),
  }),
  activity: endpoint({
    method: 'GET',
    path: '/activity/days',
    access: 'owner',
    permission: 'licenses:read',
    tag,
    summary: `List activations, sign-ins and refusals of the last ${limits.activityDays} UTC days, oldest first`,
    query: z.object({ app: appFilter }),
    data: z.strictObject({
      days: z.array(
        z.strictObject({
          date: z.iso.date(),
          activations: z.int(),
          signIns: z.int(),
          refusals: z.int().describe('how often programs were refused'),
        }),
      ),
    }),
  }),
}

export type Attention = z.output<typeof attention>
