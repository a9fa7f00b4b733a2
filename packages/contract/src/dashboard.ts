import { z } from 'zod'
import { appFilter } from './apps.ts'
import { user } from './auth.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'

/** A figure now, and how it compares with the 30 days before. */
const figure = z.strictObject({ value: z.int(), change: z.int() })

export const dashboardStats = z.strictObject({
  totalLicenses: figure,
  activeLicenses: figure,
  totalResellers: figure,
  totalClients: figure,
  expiringSoon: figure,
})

const tag = 'Dashboard'

export const dashboard = {
  data: endpoint({
    method: 'GET',
    path: '/resellers/dashboard/data',
    access: 'owner',
    tag,
    summary: 'The figures of the dashboard',
    data: z.strictObject({ user, stats: dashboardStats }),
  }),
  activity: endpoint({
    method: 'GET',
    path: '/activity',
    access: 'owner',
    tag,
    summary: `Activations and sign-ins of the last ${limits.activityDays} UTC days, oldest first`,
    query: z.object({ app: appFilter }),
    data: z.strictObject({
      days: z.array(z.strictObject({ date: z.iso.date(), activations: z.int(), signIns: z.int() })),
    }),
  }),
}
