import { instant } from '@keyward/contract'
import { systemClock, toEpochMs, toIso } from '../core/clock.ts'
import type { Database } from '../db/index.ts'
import { type CouponWithUses, endCoupon, listCoupons, setCoupon } from '../modules/payments/coupons.admin.ts'
import { command, print, UsageError, withDatabase } from './command.ts'

type CouponOptions = {
  percent?: string
  from?: string
  until?: string
  uses?: string
  'uses-per-owner'?: string
  listed?: boolean
}

export const couponCommand = command<CouponOptions>({
  name: 'coupon',
  forms: [
    { form: 'coupon list', does: ['list the coupons and how often they were used'] },
    {
      form: 'coupon set <code> --percent N',
      does: ['create a coupon of N percent (1 to 99), or change its terms:'],
      options: [
        ['[--from DATE] [--until DATE]', 'when it can be used (2027-01-31, or a date-time)'],
        ['[--uses N] [--uses-per-owner N]', 'how often in total, and per vendor; default: unlimited'],
        ['[--listed]', 'show it to every vendor on the subscription page'],
      ],
    },
    { form: 'coupon end <code>', does: ['end a coupon: no new order can use it'] },
  ],
  options: {
    percent: { type: 'string' },
    from: { type: 'string' },
    until: { type: 'string' },
    uses: { type: 'string' },
    'uses-per-owner': { type: 'string' },
    listed: { type: 'boolean' },
  },
  run(args, options) {
    const change = parseCoupon(args, options)
    return withDatabase(async (database) => print(await change(database)))
  },
})

/** Parses the command before the database is opened; the returned function runs it and returns what to print. */
function parseCoupon(args: string[], options: CouponOptions): (database: Database) => Promise<string> {
  const [action, typedCode, ...more] = args
  if (action !== 'set' && Object.keys(options).length > 0)
    throw new UsageError('Only coupon set takes options.')
  if (action === 'list' && typedCode === undefined) {
    return async ({ db }) => (await listCoupons(db, systemClock.now())).map(describe).join('')
  }
  if ((action !== 'set' && action !== 'end') || typedCode === undefined || more.length > 0) {
    throw new UsageError(
      'Usage: keyward coupon list, keyward coupon set <code> --percent N, or keyward coupon end <code>',
    )
  }
  const code = typedCode.toUpperCase()
  if (!/^[A-Z0-9_-]{1,40}$/.test(code)) {
    throw new UsageError('A code has 1 to 40 letters, digits, hyphens and underscores.')
  }
  const change = action === 'set' ? toSetting(code, options) : toEnding(code)
  return async (database) => {
    await change(database)
    return (await listCoupons(database.db, systemClock.now(), code)).map(describe).join('')
  }
}

const toEnding = (code: string) => async (database: Database) => {
  if (!(await endCoupon(database, code, systemClock.now())))
    throw new UsageError(`There is no coupon ${code}.`)
}

function toSetting(code: string, options: CouponOptions): (database: Database) => Promise<void> {
  const percent = toNumber('--percent', options.percent, 99)
  if (percent === null) throw new UsageError('coupon set requires --percent.')
  const [from, until] = [toTime('--from', options.from), toTime('--until', options.until)]
  if (from !== null && until !== null && from >= until) throw new UsageError('--from must be before --until.')
  const coupon = {
    code,
    percent,
    valid_from: from,
    valid_until: until,
    max_uses: toNumber('--uses', options.uses, 1_000_000_000),
    listed: options.listed ? (1 as const) : (0 as const),
    max_uses_per_owner: toNumber('--uses-per-owner', options['uses-per-owner'], 1_000_000_000),
  }
  return (database) => setCoupon(database, coupon, systemClock.now())
}

function toNumber(name: string, text: string | undefined, max: number): number | null {
  if (text === undefined) return null
  if (!/^\d{1,10}$/.test(text) || Number(text) < 1 || Number(text) > max) {
    throw new UsageError(`${name} takes a whole number from 1 to ${max}.`)
  }
  return Number(text)
}

/** A bare date is the start of that UTC day for `--from` and its end for `--until`. */
function toTime(name: '--from' | '--until', text: string | undefined): number | null {
  if (text === undefined) return null
  if (!instant.safeParse(text).success) throw new UsageError(`${name} takes a date such as 2027-01-31.`)
  return name === '--from' && text.length === 10 ? Date.parse(`${text}T00:00:00Z`) : toEpochMs(text)
}

function describe(coupon: CouponWithUses): string {
  const { valid_from: from, valid_until: until, max_uses: max, max_uses_per_owner: perOwner } = coupon
  const parts = [
    `${coupon.percent}% off`,
    ...(coupon.active === 0 ? ['ended'] : []),
    ...(coupon.listed === 1 ? ['shown to every vendor'] : []),
    ...(from === null ? [] : [`from ${toIso(from)}`]),
    ...(until === null ? [] : [`until ${toIso(until)}`]),
    max === null ? `used ${coupon.uses} times` : `used ${coupon.uses} of ${max} times`,
    ...(coupon.held > 0 ? [`${coupon.held} held by open orders`] : []),
    ...(perOwner === null ? [] : [`at most ${perOwner} for each owner`]),
  ]
  return `${coupon.code}: ${parts.join(', ')}\n`
}
