import type { NotificationSettings } from '@keyward/contract'

type Kind = Exclude<keyof NotificationSettings, 'newSignIn'>

export const kinds: readonly { kind: Kind; label: string; description: string }[] = [
  {
    kind: 'keysRunningOut',
    label: 'Keys running out',
    description:
      'When an application has fewer unused keys than were redeemed in the last 7 days. Once per application, and again after a week at the earliest.',
  },
  {
    kind: 'quotaRunningOut',
    label: 'Limits nearly used up',
    description:
      'When a reseller has used 90 % of its license limit, or you have used 90 % of a limit of the free plan. Once for each, and again after a week at the earliest.',
  },
  {
    kind: 'licensesExpiring',
    label: 'Licenses about to end',
    description:
      'How many licenses in use will end within 7 days, in each application. At 08:00 UTC on days with new ones; each license counts once.',
  },
  {
    kind: 'refusalsRising',
    label: 'More refusals than usual',
    description:
      'When an application refused at least 50 requests in 24 hours, and three times as many as usual, with the most frequent reason. At most once a day.',
  },
  {
    kind: 'webhookFailing',
    label: 'Failing webhooks',
    description: 'When a webhook that you made is turned off, because it failed for three days.',
  },
  {
    kind: 'ordersWaiting',
    label: 'Waiting orders',
    description:
      'When orders of your shops could not be fulfilled, with the reasons, or their keys could not be mailed. Each once, and at most one message a day.',
  },
  {
    kind: 'weeklySummary',
    label: 'Weekly summary',
    description:
      'New and active licenses, activations, refusals and licenses about to end, compared with the week before. On Mondays at 08:00 UTC.',
  },
]

export const newSignIn = {
  label: 'New sign-ins',
  description:
    'When someone signs in to your account with a device that you have not used lately. The same at all vendor accounts that you work for.',
}
