import type { Delivery, DeliveryState } from '@keyward/contract'
import { serverNow } from '../../lib/api/server-time.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { amountOf } from '../../lib/format/words.ts'
import type { Tone } from '../../ui/badge.tsx'

export const deliveryFacts: Readonly<Record<DeliveryState, { label: string; tone: Tone }>> = {
  waiting: { label: 'Waiting', tone: 'neutral' },
  delivered: { label: 'Delivered', tone: 'success' },
  failed: { label: 'Failed', tone: 'warning' },
  given_up: { label: 'Given up', tone: 'danger' },
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

/** 'in 5 minutes' */
export function untilText(at: string): string {
  const seconds = Math.round((Date.parse(at) - serverNow()) / 1000)
  if (seconds < 1) return 'now'
  if (seconds < 90) return relative.format(seconds, 'second')
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return relative.format(minutes, 'minute')
  return relative.format(Math.round(minutes / 60), 'hour')
}

/** '2 attempts, next in 5 minutes'; empty for a delivery whose first attempt succeeded. */
export function attemptsText({ state, attempts, nextAt }: Delivery): string {
  const next = nextAt && state !== 'delivered' && attempts > 0 ? `next ${untilText(nextAt)}` : ''
  const many = attempts > 1 || next ? amountOf(attempts, 'attempt') : ''
  return [many, next].filter(Boolean).join(', ')
}

/** '500 in 120 ms', or why there is no response; one that failed at once took no time. */
export function responseText({ state, attempts, status, durationMs }: Delivery): string {
  if (attempts === 0) return state === 'given_up' ? 'Not sent' : 'Not sent yet'
  const tookNoTime = durationMs === null || (status === null && durationMs === 0)
  return `${status ?? 'No response'}${tookNoTime ? '' : ` in ${formatNumber(durationMs)} ms`}`
}
