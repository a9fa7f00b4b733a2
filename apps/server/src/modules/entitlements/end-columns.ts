import type { Duration } from '@keyward/contract'
import { sql } from 'kysely'
import { day, lastInstant } from '../../core/clock.ts'
import { never } from '../../db/stored-end.ts'

// A started license of a type without a duration from first use has only its date.
const isStarted = sql`(started_at is not null and duration_value is not null)`

/** A license's columns for an end. A date ends `forever`, and a clock that was not started. */
export function withEnd(endsAt: number) {
  if (endsAt === never) return { expires_at: never, term: 'forever' as const }
  return {
    expires_at: endsAt,
    term: sql<'date' | 'first_use'>`case when ${isStarted} then 'first_use' else 'date' end`,
    duration_value: sql<number | null>`case when ${isStarted} then duration_value end`,
    duration_unit: sql<Duration['unit'] | null>`case when ${isStarted} then duration_unit end`,
  }
}

/** The end plus some days, counted from now if it has passed; at most the year 9999, each with the grace days. */
export function extended(days: number, now: number) {
  const span = days * day
  const grace = sql`cast(grace_days as bigint) * ${sql.lit(day)}`
  return sql<number>`case
    when expires_at - ${grace} > ${lastInstant - span} then ${lastInstant} + ${grace}
    when expires_at - ${grace} > ${now} then expires_at + ${span}
    else ${now + span} + ${grace} end`
}
