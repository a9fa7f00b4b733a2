import type { BodyOf, endpoints, OrderChoice, OrderReasonCode } from '@keyward/contract'
import type { ShopOrderRow } from '../../db/tables.ts'
import type { Chosen } from './orders.repo.ts'
import type { FoldedOrder } from './orders.rules.ts'

export type Choice = BodyOf<typeof endpoints.orders.retry>

const choices: Partial<Record<OrderReasonCode, readonly OrderChoice[]>> = {
  partly_refunded: ['keep', 'ban'],
  payment_warning: ['keep', 'ban'],
  fewer_units: ['end'],
  no_address: ['keep'],
  license_banned: ['newLicense'],
  license_subscribed: ['replace', 'newLicense'],
  nothing_to_renew: ['newLicense'],
}

/** What a vendor can decide about an order now. */
export const choicesOf = ({
  state,
  reason_code,
}: Pick<ShopOrderRow, 'state' | 'reason_code'>): OrderChoice[] =>
  state === 'waiting' && reason_code !== null ? [...(choices[reason_code] ?? [])] : []

/** Adds a decision about what was told; without a choice, partial refunds count as seen. */
export function withChoice(
  before: Chosen,
  { partlyRefunded, warnings, standing }: FoldedOrder,
  { choice, licenses = [] }: Choice,
): Chosen {
  const both = (some: readonly string[] = [], more: readonly string[]) => [...new Set([...some, ...more])]
  if (choice === 'ban') return { ...before, banned: both(before.banned, standing) }
  if (choice === 'replace' || choice === 'newLicense') return { ...before, reference: choice }
  if (choice === 'end') return { ...before, ended: both(before.ended, licenses) }
  const kept = { ...before, refunds: { ...before.refunds, ...partlyRefunded } }
  return choice === 'keep' ? { ...kept, warnings: both(before.warnings, warnings) } : kept
}

/** What a waiting order needs, and whether a later attempt may succeed without the vendor. */
export interface Need {
  code: OrderReasonCode
  reason: string
  isRetried: boolean
  /** Licenses among which the vendor chooses when the order was reduced, and how many of them must end. */
  surplus?: { ids: string[]; count: number }[]
}
