import { z } from 'zod'
import { user } from './auth.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { appFilter, bans } from './shared.ts'

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
