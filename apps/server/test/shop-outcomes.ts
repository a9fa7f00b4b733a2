import type { Owner } from './actors.ts'
import { ordersOf } from './shop-actor.ts'

export function shuffled<T>(all: readonly T[]): T[] {
  const mixed = [...all]
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = Math.floor(Math.random() * (at + 1))
    const one = mixed[at]!
    mixed[at] = mixed[other]!
    mixed[other] = one
  }
  return mixed
}

/** What a vendor sees of the orders of a shop, without what chance decides. */
export async function outcomeOf(owner: Pick<Owner, 'call'>, shopId: string) {
  const orders = []
  for (let page = 1; ; page += 1) {
    const found = await ordersOf(owner, `shop=${shopId}&limit=200&page=${page}`)
    orders.push(...found)
    if (found.length < 200) break
  }
  const outcomes = []
  for (const { order, state, reason, email, amount, lines, licenses } of orders) {
    const details = []
    for (const { _id } of licenses) {
      const { license } = (await owner.call('GET', `/licenses/${_id}`)).json.data
      const { banned, banReason, expiresAt, term, devices, graceDays, type } = license
      details.push({ banned, banReason, expiresAt, term, devices, graceDays, type })
    }
    outcomes.push([order, { state, reason, email, amount, lines, licenses: details }] as const)
  }
  return Object.fromEntries(outcomes.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
