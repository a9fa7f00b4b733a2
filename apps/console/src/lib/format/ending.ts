import type { App, Duration, License } from '@keyward/contract'
import { serverNow } from '../api/server-time.ts'
import { amountOf } from './words.ts'

/** '30 days' */
export const durationText = ({ value, unit }: Duration): string => amountOf(value, unit.slice(0, -1), unit)

/** Shown instead of a date: 'Never', or '30 days from first use'. */
export const noDateText = (license: Partial<Pick<License, 'term' | 'duration'>>): string =>
  license.term === 'first_use' && license.duration
    ? `${durationText(license.duration)} from first use`
    : 'Never'

const recentMs = 30 * 86_400_000

/** A warning for licenses without an end, while programs that may not know them are in use. */
export function oldProgramsWarning(app: Pick<App, 'sdklessInitAt'> | undefined): string | undefined {
  const isRecent = app?.sdklessInitAt && Date.parse(app.sdklessInitAt) > serverNow() - recentMs
  return isRecent
    ? 'Copies of your program without a current SDK are in use. They may read “never expires” as the year 1970 and refuse to run. Ship an update with the current SDK first.'
    : undefined
}

/** The same for rows of several apps. */
export const oldProgramsWarningOf = (apps: readonly Pick<App, 'sdklessInitAt'>[]): string | undefined =>
  apps.map((app) => oldProgramsWarning(app)).find((warning) => warning !== undefined)

/** When access ends: the grace days follow the expiry. Infinity if it never does, or has not started. */
export const accessEnds = ({ expiresAt, graceDays }: Pick<License, 'expiresAt' | 'graceDays'>): number =>
  expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) + graceDays * 86_400_000
