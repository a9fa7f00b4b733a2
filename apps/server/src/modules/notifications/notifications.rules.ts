import type { NotificationSettings, Permission } from '@keyward/contract'
import { day, hour } from '../../core/clock.ts'

/** What the server looks for. The other mails follow from something that happens. */
export const lookedFor = [
  'keysRunningOut',
  'quotaRunningOut',
  'licensesExpiring',
  'refusalsRising',
  'ordersWaiting',
  'weeklySummary',
] as const
export type LookedFor = (typeof lookedFor)[number]

/** A kind of mail about a vendor account; a sign-in is about the person. */
export type Kind = Exclude<keyof NotificationSettings, 'newSignIn'>

export const columnOf = {
  keysRunningOut: 'keys_running_out',
  quotaRunningOut: 'quota_running_out',
  licensesExpiring: 'licenses_expiring',
  refusalsRising: 'refusals_rising',
  webhookFailing: 'webhook_failing',
  ordersWaiting: 'orders_waiting',
  weeklySummary: 'weekly_summary',
} as const

/** What reading the content of a mail needs; a part that needs more is left out where it is written. */
export const permissionOf: Readonly<Record<Kind, Permission>> = {
  keysRunningOut: 'licenses:read',
  quotaRunningOut: 'apps:read',
  licensesExpiring: 'licenses:read',
  refusalsRising: 'clients:read',
  webhookFailing: 'webhooks:read',
  ordersWaiting: 'licenses:read',
  weeklySummary: 'licenses:read',
}

/** After its condition was gone, a person is told about the same app, reseller or order again after this time at the earliest. */
export const againAfterMs: Readonly<
  Record<'keysRunningOut' | 'quotaRunningOut' | 'refusalsRising' | 'ordersWaiting', number>
> = {
  keysRunningOut: 7 * day,
  quotaRunningOut: 7 * day,
  refusalsRising: day,
  ordersWaiting: day,
}

const mailHour = 8 * hour
const monday = 1

/** 08:00 UTC of the day. */
export const mailTimeOf = (now: number): number => Math.floor(now / day) * day + mailHour

/** Mails that were due while no server ran are sent later on the same day, and not on another one. */
export const isDailyDue = (now: number): boolean => now >= mailTimeOf(now)
export const isWeeklyDue = (now: number): boolean => isDailyDue(now) && new Date(now).getUTCDay() === monday

/** A vendor is looked at once an hour, and at 08:00 UTC. */
export function nextLook(now: number): number {
  const today = mailTimeOf(now)
  return Math.min(now + hour, today > now ? today : today + day)
}

const keysMin = 3

/** Whether an app has fewer unused keys than a week takes; an app that hardly sells has no usual week. */
export const areKeysRunningOut = ({ unused, redeemed }: { unused: number; redeemed: number }): boolean =>
  redeemed >= keysMin && unused < redeemed

/** Whether a limit is used to 90 %; -1 is unlimited, and of 0 nothing can be used. */
export const isRunningOut = (used: number, limit: number): boolean => limit > 0 && used * 10 >= limit * 9

export interface RefusalFacts {
  /** In the last 24 hours. */
  recent: number
  /** In each 24 hours of the week before, on average. */
  usual: number
}

const refusalsMin = 50
const refusalsFactor = 3

export const areRefusalsRising = ({ recent, usual }: RefusalFacts): boolean =>
  recent >= refusalsMin && recent >= refusalsFactor * usual

/** Something that a person may be told about. */
export interface News {
  /** An app, a reseller or `plan`. */
  subject: string
  text: string
}

interface Told {
  subject: string
  holds: 0 | 1
  sent_at: number
}

/** Which news a person was not told, and which marks are of conditions that are gone. */
export function toNews(found: readonly News[], told: readonly Told[], againMs: number, now: number) {
  const marks = new Map(told.map((mark) => [mark.subject, mark]))
  const present = new Set(found.map(({ subject }) => subject))
  return {
    news: found.filter(({ subject }) => {
      const mark = marks.get(subject)
      return mark === undefined || (mark.holds === 0 && mark.sent_at <= now - againMs)
    }),
    gone: told
      .filter(({ subject, holds }) => holds === 1 && !present.has(subject))
      .map((mark) => mark.subject),
  }
}
