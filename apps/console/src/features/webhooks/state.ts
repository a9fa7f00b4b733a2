import type { Webhook } from '@keyward/contract'
import type { Tone } from '../../ui/badge.tsx'

export type WebhookState = 'active' | 'failing' | 'paused'

export const stateOf = ({ active, failingSince }: Webhook): WebhookState =>
  active ? (failingSince === null ? 'active' : 'failing') : 'paused'

export const stateFacts: Readonly<Record<WebhookState, { label: string; tone: Tone }>> = {
  active: { label: 'Active', tone: 'success' },
  failing: { label: 'Failing', tone: 'warning' },
  paused: { label: 'Paused', tone: 'danger' },
}

/** The server of a webhook. */
export const hostOf = ({ url }: Webhook) => (URL.canParse(url) ? new URL(url).host : url)
