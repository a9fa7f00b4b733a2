import type { Config } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Database } from '../db/index.ts'
import { setLimits, type VendorLimits } from '../modules/plans/plans.service.ts'
import { disableVendor, enableVendor } from '../modules/platform/vendors.operator.ts'
import { UsageError } from './command.ts'
import type { Answer } from './owner.ts'

export type VendorOptions = {
  programs?: boolean
  apps?: string
  licenses?: string
  mails?: string
  reset?: boolean
}

type Work = (database: Database, config: Config) => Promise<void>

const limitMost = 1_000_000_000

export const noOwner = (email: string) => new OperatorError(`There is no owner with the email ${email}.`)

/** Refuses everyone who works with a vendor account. */
export const parseDisable =
  (typed: string, { programs = false }: VendorOptions, answer: Answer): Work =>
  async (database) => {
    const done = await disableVendor(database, systemClock, { email: typed, programs })
    if (!done) throw noOwner(typed)
    const { email, ownerId, changed } = done
    const text = changed ? 'disabled' : 'was disabled before'
    answer({ email, owner: ownerId, disabled: true, changed }, `${email}: ${text}\n`)
  }

export const parseEnable =
  (typed: string, answer: Answer): Work =>
  async (database) => {
    const done = await enableVendor(database, systemClock, typed)
    if (!done) throw noOwner(typed)
    const { email, ownerId, changed } = done
    const text = changed ? 'enabled' : 'was not disabled'
    answer({ email, owner: ownerId, disabled: false, changed }, `${email}: ${text}\n`)
  }

/** Sets the limits that have options, or shows all. */
export function parseLimits(typed: string, options: VendorOptions, answer: Answer): Work {
  const { apps, licenses, mails, reset } = options
  if (reset && (apps ?? licenses ?? mails) !== undefined)
    throw new UsageError('--reset takes no other limit.')
  const change: Partial<VendorLimits> = reset
    ? { apps: null, licensesPerApp: null, mails: null }
    : {
        ...(apps === undefined ? {} : { apps: toLimit('--apps', apps) }),
        ...(licenses === undefined ? {} : { licensesPerApp: toLimit('--licenses', licenses) }),
        ...(mails === undefined ? {} : { mails: toLimit('--mails', mails) }),
      }
  return async (database) => {
    const done = await setLimits(database, systemClock, typed, change)
    if (!done) throw noOwner(typed)
    const { email, ownerId, before, after } = done
    const { apps: ofApps, licensesPerApp, mails: ofDay } = after
    const text = `apps ${describe(ofApps)}, licenses of an app ${describe(licensesPerApp)}, mails to buyers a day ${describe(ofDay)}`
    answer({ email, owner: ownerId, limits: after, before }, `${email}: ${text}\n`)
  }
}

const describe = (limit: number | null): string => (limit === null ? 'as the plan says' : `${limit}`)

function toLimit(name: string, text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= limitMost) return Number(text)
  throw new UsageError(`${name} takes a whole number from 0 to ${limitMost}.`)
}
