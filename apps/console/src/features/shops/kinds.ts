import { shopKinds } from '@keyward/contract'

interface KindFacts {
  label: string
  /** What the shop calls its secret, and where to find it. */
  secret: { label: string; hint: string }
  /** The key that reads orders back, for shops whose events are not enough. */
  apiKey?: { label: string; hint: string; isOptional?: true }
  /** What the vendor does with the address of the hook. */
  hook: string
  /** What the vendor selects there, and what to do with it if that is something else. */
  events?: readonly string[]
  eventsHelp?: string
  /** How the shop names a product in its orders. */
  product: string
}

const known: Readonly<Record<string, KindFacts>> = {
  custom: {
    label: 'Your own shop',
    secret: {
      label: 'Signing secret',
      hint: 'Your shop signs its events with it. Keep it, or enter your own.',
    },
    hook: 'Let your shop send its events to this address, signed with the secret.',
    product: 'As your shop names it in its orders',
  },
  stripe: {
    label: 'Stripe',
    secret: { label: 'Signing secret', hint: 'whsec_…, from the webhook endpoint' },
    apiKey: {
      label: 'Restricted API key',
      hint: 'rk_…, which may read Checkout Sessions, Charges, Disputes, Invoices and Subscriptions',
    },
    hook: 'Add a webhook endpoint with this address in Stripe.',
    events: [
      'checkout.session.completed',
      'checkout.session.async_payment_succeeded',
      'charge.refunded',
      'refund.updated',
      'refund.failed',
      'charge.dispute.created',
      'charge.dispute.updated',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.funds_reinstated',
      'charge.dispute.closed',
      'radar.early_fraud_warning.created',
      'review.opened',
      'review.closed',
      'invoice.paid',
      'invoice.payment_failed',
      'customer.subscription.updated',
      'customer.subscription.deleted',
    ],
    product: 'The id of a price (price_…)',
  },
  // https://developer.paddle.com/webhooks/notification-destinations and /api-reference/about/permissions, read on 2026-11-24.
  paddle: {
    label: 'Paddle',
    secret: {
      label: 'Secret key',
      hint: 'pdl_ntfset_…, of a destination under Developer tools, Notifications',
    },
    apiKey: {
      label: 'API key',
      hint: 'Under Developer tools, Authentication. It may read transactions, customers, adjustments and subscriptions',
    },
    hook: 'In Paddle, open Developer tools, Notifications, and enter this address as the URL of a destination.',
    events: [
      'transaction.completed',
      'adjustment.created',
      'adjustment.updated',
      'subscription.activated',
      'subscription.updated',
      'subscription.resumed',
      'subscription.past_due',
      'subscription.canceled',
    ],
    product: 'The id of a price (pri_…)',
  },
  // https://docs.lemonsqueezy.com/help/webhooks, read on 2026-11-24.
  lemonsqueezy: {
    label: 'Lemon Squeezy',
    secret: {
      label: 'Signing secret',
      hint: '6 to 40 characters that you choose, the same as for the webhook',
    },
    apiKey: {
      label: 'API key',
      hint: 'Under Settings, API. Refunds of renewals and bills of changes need it',
      isOptional: true,
    },
    hook: 'In Lemon Squeezy, open Settings, Webhooks, and add a webhook with this address as its callback URL.',
    events: [
      'order_created',
      'order_refunded',
      'subscription_created',
      'subscription_updated',
      'subscription_payment_success',
      'subscription_payment_refunded',
    ],
    product: 'The id of a variant',
  },
  // https://gumroad.com/ping and https://gumroad.com/api, read on 2026-11-24.
  gumroad: {
    label: 'Gumroad',
    secret: {
      label: 'Seller ID',
      hint: 'The user_id that the API of Gumroad answers for you, see how to connect it',
    },
    apiKey: {
      label: 'Access token',
      hint: 'With view_sales, from an application under Settings, Advanced',
    },
    hook: 'In Gumroad, open Settings, Advanced, and enter this address as the ping endpoint. It ends with a secret, so show it to nobody.',
    eventsHelp: 'Pings tell of sales alone. Subscribe the same address to these by the API:',
    events: [
      'refund',
      'dispute',
      'dispute_won',
      'cancellation',
      'subscription_ended',
      'subscription_restarted',
    ],
    product: 'The id of a product, with a slash before each chosen variant: abc==/Team',
  },
}

/** Kinds that have no words here yet are offered by their name. */
export const kindFacts = (kind: string): KindFacts =>
  known[kind] ?? {
    label: kind,
    secret: { label: 'Secret', hint: 'The shop signs its events with it' },
    hook: 'Let the shop send its events to this address.',
    product: 'As the shop names it in its orders',
  }

export const kindOptions = shopKinds.map((kind) => ({ value: kind, label: kindFacts(kind).label }))
