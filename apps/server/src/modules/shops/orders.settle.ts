import type { ShopOrderState } from '@keyward/contract'
import { normalizeEmail } from '../../core/ids.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { ShopOrderRow, ShopRow } from '../../db/tables.ts'
import { countOrder } from '../sales/sales.count.ts'
import { type Choice, type Need, withChoice } from './orders.choices.ts'
import { settleLicenses, unaddressed } from './orders.licenses.ts'
import type { MailCtx } from './orders.mail.ts'
import * as repo from './orders.repo.ts'
import { type FoldedOrder, foldFacts, placedOf } from './orders.rules.ts'
import { salesOf } from './orders.sales.ts'
import { listFacts, type StoredFact } from './shop-events.repo.ts'

interface Options {
  ctx: MailCtx
  /** Its facts, if the caller has read them. */
  facts?: readonly StoredFact[]
  /** Whether the transaction has made it: it has no licenses yet. */
  isNew?: boolean
  /** What the vendor decides about it. */
  choice?: Choice
}

/**
 * Applies what the facts of an order fold to: creates licenses that are missing, and changes those that are
 * there. The caller has locked the order. Returns what it needs; undefined if it does not wait.
 */
export async function settleOrder(
  write: WriteTransaction,
  shop: ShopRow,
  order: ShopOrderRow,
  { ctx, facts, isNew = false, choice }: Options,
): Promise<Need | undefined> {
  const { tx } = write
  const placed = placedOf(facts ?? (await listFacts(tx, order.id)))
  const before = repo.chosenOf(order)
  const chosen = choice ? withChoice(before, foldFacts(placed, before.banned), choice) : before
  const folded = foldFacts(placed, chosen.banned)
  const columns = columnsOf(order, folded)
  const { needs, change } = folded.paid
    ? await settleLicenses(write, {
        ...{ ctx, shop, order: { ...order, ...columns }, folded, isNew },
        ...{ linesBefore: order.lines, ended: chosen.ended ?? [], reference: chosen.reference },
      })
    : { needs: [notArrived], change: {} }
  const isUnseen = ([payment, sum]: [string, number]) => sum > (chosen.refunds?.[payment] ?? 0)
  if (Object.entries(folded.partlyRefunded).some(isUnseen)) needs.push(partlyRefunded)
  if (folded.warnings.some((key) => !chosen.warnings?.includes(key))) needs.push(warned)
  const isHandedOver = choice !== undefined && order.reason_code === unaddressed.code
  const mailless = order.mailless === 1 || isHandedOver
  const open = needs.filter((need) => need !== unaddressed || !mailless)
  // A refunded order needs nothing more.
  const need = folded.paid && folded.ban === 'refund' ? undefined : (open.find(isRetried) ?? open[0])
  const state = need ? 'waiting' : stateOf[folded.ban ?? 'none']
  const reason = need?.reason ?? null
  await repo.updateOrder(tx, order.id, {
    ...columns,
    ...change,
    ...{ state, reason, reason_code: need?.code ?? null, chosen: JSON.stringify(chosen) },
    counted: 1 as const,
    mailless: mailless ? (1 as const) : (0 as const),
    ends_at: nextEndOf(folded, write.now),
    renews: folded.isRunning && folded.ban === null ? (1 as const) : (0 as const),
  })
  // Its months may count for a subscription that followed, also those that were lost and came back.
  if ((facts || choice) && !isNew) await repo.lookAtOthers(tx, order, write.now)
  await countOrder(write, order, salesOf(placed, folded), { isNew })
  recordState(write, order, { state, reason })
  return need
}

/** The next end of what was paid; null if it is told by an event, or was lost. */
function nextEndOf({ bought, end, ban }: FoldedOrder, now: number): number | null {
  const ends = [end, ...bought.flatMap(({ shares }) => shares.map((share) => share.end))]
  const next = ends.filter((one) => one !== undefined && one > now) as number[]
  return ban === null && next.length > 0 ? Math.min(...next) : null
}

const notArrived: Need = {
  code: 'not_arrived',
  reason: 'The order itself has not arrived yet',
  isRetried: false,
}

const partlyRefunded: Need = {
  code: 'partly_refunded',
  reason: 'A part was refunded: ban its licenses or keep them',
  isRetried: false,
}

const warned: Need = {
  code: 'payment_warning',
  reason: 'The shop warns that a payment may be lost: ban its licenses or keep them',
  isRetried: false,
}

const isRetried = (need: Need): boolean => need.isRetried

const stateOf: Record<'refund' | 'dispute' | 'none', ShopOrderState> = {
  refund: 'refunded',
  dispute: 'disputed',
  none: 'fulfilled',
}

/** An order that has its customer keeps the address that the vendor may have entered. */
const columnsOf = (order: ShopOrderRow, { paid, lines }: FoldedOrder) =>
  paid
    ? {
        ...(order.customer_id === null && {
          email: paid.email,
          email_normalized: paid.email === null ? null : normalizeEmail(paid.email),
        }),
        name: paid.name,
        locale: paid.locale ?? null,
        amount: paid.amount,
        currency: paid.currency,
        test: paid.test ? (1 as const) : (0 as const),
        lines: JSON.stringify(lines),
      }
    : {}

export function recordState(
  write: WriteTransaction,
  before: ShopOrderRow,
  { state, reason }: Pick<ShopOrderRow, 'state' | 'reason'>,
): void {
  if (before.state === state && before.reason === reason) return
  const { id, number: order, app_id } = before
  if (state === 'waiting') {
    write.record('shop_order.waiting', id, { order, reason: reason ?? '' }, app_id)
  } else if (before.state !== state && state !== 'fulfilled') {
    write.record(`shop_order.${state}`, id, { order }, app_id)
  } else if (before.state === 'disputed') {
    write.record('shop_order.dispute_won', id, { order }, app_id)
  }
}
