import type { Delivery, DeliveryState, Webhook } from '@keyward/contract'
import { serverNow } from '../../lib/api/server-time.ts'
import { formatDate, formatTime } from '../../lib/format/dates.ts'
import { amountOf } from '../../lib/format/words.ts'
import type { Tone } from '../../ui/badge.tsx'

export type WebhookState = 'active' | 'failing' | 'paused'

export const stateOf = ({ active, failingSince }: Webhook): WebhookState =>
  active ? (failingSince === null ? 'active' : 'failing') : 'paused'

export const stateFacts: Readonly<Record<WebhookState, { label: string; tone: Tone }>> = {
  active: { label: 'Active', tone: 'success' },
  failing: { label: 'Failing', tone: 'warning' },
  paused: { label: 'Paused', tone: 'danger' },
}

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

export const momentText = (at: string) => `${formatDate(at)}, ${formatTime(at)}`

/** '2 attempts, next in 5 minutes'; empty for a delivery whose first attempt succeeded. */
export function attemptsText({ state, attempts, nextAt }: Delivery): string {
  const next = nextAt && state !== 'delivered' && attempts > 0 ? `next ${untilText(nextAt)}` : ''
  const many = attempts > 1 || next ? amountOf(attempts, 'attempt') : ''
  return [many, next].filter(Boolean).join(', ')
}

/** '500 in 120 ms', or why there is no response. */
export function responseText({ attempts, status, durationMs }: Delivery): string {
  if (attempts === 0) return 'Not sent yet'
  const took = durationMs === null ? '' : ` in ${durationMs.toLocaleString()} ms`
  return `${status ?? 'No response'}${took}`
}

/** The server of a webhook. */
export const hostOf = ({ url }: Webhook) => (URL.canParse(url) ? new URL(url).host : url)
