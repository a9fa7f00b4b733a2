import { z } from 'zod'
import { endpoint } from './endpoint.ts'

/** Which mails a person gets about a vendor account. */
export const notificationSettings = z.strictObject({
  newSignIn: z
    .boolean()
    .describe(
      'a sign-in with a device that your account has not used lately; the same at all vendors that you work for',
    ),
  keysRunningOut: z.boolean().describe('an app has fewer unused keys than were redeemed in the last 7 days'),
  quotaRunningOut: z
    .boolean()
    .describe(
      'a reseller has used 90 % of its license limit, or you have used 90 % of a limit of the free plan',
    ),
  licensesExpiring: z.boolean().describe('licenses end within 7 days; at most once a day'),
  refusalsRising: z
    .boolean()
    .describe('an app refused at least 50 requests in 24 hours, and three times as many as usual'),
  webhookFailing: z
    .boolean()
    .describe('a webhook was turned off because its deliveries failed for three days'),
  ordersWaiting: z
    .boolean()
    .describe(
      'orders of shops wait, or their keys could not be mailed, with the reasons; at most once a day',
    ),
  weeklySummary: z.boolean().describe('what happened in the last week, on Mondays at 08:00 UTC'),
})

const tag = 'Settings'

export const notifications = {
  get: endpoint({
    method: 'GET',
    path: '/settings/notifications',
    access: 'owner',
    permission: 'settings:read',
    personal: true,
    tag,
    summary: 'Get which mails you get about this vendor account',
    data: notificationSettings,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/settings/notifications',
    access: 'owner',
    permission: 'settings:write',
    personal: true,
    tag,
    summary: 'Choose which mails you get about this vendor account',
    body: notificationSettings
      .partial()
      .refine((body) => Object.values(body).some((value) => value !== undefined), 'Nothing to change'),
    data: notificationSettings,
  }),
  confirmEmail: endpoint({
    method: 'POST',
    path: '/settings/notifications/confirm-email',
    access: 'owner',
    permission: 'self',
    unbudgeted: 'own account',
    tag,
    summary:
      'Get a link mailed that confirms your address, or confirm it by the token of that link: only a confirmed address gets mails about a vendor account',
    body: z.strictObject({ token: z.string().min(1).max(500).optional() }),
    data: z.strictObject({ confirmed: z.boolean() }),
    errors: ['reset_link_invalid', 'mail_off', 'rate_limited'],
  }),
}

export type NotificationSettings = z.output<typeof notificationSettings>
