import type { ShopOrderState } from '@keyward/contract'

/** How the state of an order is shown: its badge and its tone. */
export const orderStateFacts = {
  fulfilled: { label: 'Fulfilled', tone: 'success' },
  waiting: { label: 'Waiting', tone: 'warning' },
  refunded: { label: 'Refunded', tone: 'neutral' },
  disputed: { label: 'Disputed', tone: 'danger' },
} as const satisfies Readonly<Record<ShopOrderState, { label: string; tone: string }>>
