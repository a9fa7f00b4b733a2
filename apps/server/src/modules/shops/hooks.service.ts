import type { IncomingHttpHeaders } from 'node:http'
import type { ShopActor } from '../../core/actor.ts'
import { sameDigest } from '../../core/crypto.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { ShopRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { WriteBudget } from '../../service/write-budget.ts'
import type { ToldFact } from './shop-adapter.ts'
import { bodyUntil, insertEvent } from './shop-events.repo.ts'
import { adapters } from './shops.adapters.ts'
import { findShopOfHook, holdShop, hookSecretOf, secretOf } from './shops.repo.ts'

/** Counts a caller, and returns the problem once it calls too often. */
type Count = (caller: string) => Error | undefined

/** What limits hooks; each node counts separately. */
export interface HookGates {
  /** Events of one shop whose signature is valid. */
  events: Count
  /** Requests of one address to one hook, before anything is read: a stranger must not use up what the shop may send. */
  requests: Count
  /** Requests of one address that no shop has signed. */
  refused: Count
}

export interface SentHook {
  id: string
  headers: IncomingHttpHeaders
  body: Buffer
  address: string
}

export interface HookParts {
  ctx: Ctx
  hookGates: HookGates
  budget: Pick<WriteBudget, 'check'>
}

/** Counts a request to a hook, and refuses one to an unknown hook before its body is read. */
export async function admitHook(
  { ctx, hookGates }: Pick<HookParts, 'ctx' | 'hookGates'>,
  { id, address }: Pick<SentHook, 'id' | 'address'>,
): Promise<void> {
  refuse(hookGates.requests(`${address} ${id}`))
  if (await findShop(ctx, id)) return
  refuse(hookGates.refused(address))
  throw problem('not_found')
}

/** Stores an event of a shop, unless it is stored already. */
export async function receiveEvent(parts: HookParts, sent: SentHook): Promise<void> {
  const { ctx, hookGates, budget } = parts
  const shop = await findShop(ctx, sent.id)
  const secret = shop && secretOf(ctx.seal, shop)
  if (!shop || secret === undefined) throw problem('not_found')
  const adapter = adapters[shop.kind]
  const event = adapter.verify(secret, { ...sent, now: ctx.clock.now() })
  if (!event) {
    refuse(hookGates.refused(sent.address))
    throw problem('unauthorized', { message: 'The signature is missing, wrong or too old' })
  }
  refuse(hookGates.events(shop.id))
  const body = sent.body.toString('utf8')
  // PostgreSQL cannot store it.
  if (body.includes('\u0000')) throw problem('invalid_input')
  const told = adapter.read(body, event.at)
  const actor = actorOf(shop)
  await budget.check(actor)
  await ctx.tx(actor, (write) =>
    storeEvent(write, shop, { ...event, body: told ? storedOf(body, told) : null }),
  )
}

/** What is read back from its shop is not stored: an event that waits or was ignored would keep its buyer after an erasure. */
const storedOf = (body: string, told: ToldFact): string => ('ask' in told ? told.body : body)

/** The shop behind an address, which ends with a secret where nothing is signed. */
async function findShop({ db, seal }: Ctx, address: string): Promise<ShopRow | undefined> {
  const [id = ''] = address.split('.', 1)
  const shop = await findShopOfHook(db, id)
  const expected = shop && adapters[shop.kind].hasSecretHook ? `${id}.${hookSecretOf(seal, id)}` : id
  return sameDigest(address, expected) && shop?.secret_sealed !== null ? shop : undefined
}

const refuse = (problem: Error | undefined): void => {
  if (problem) throw problem
}

/** What happens to orders of a shop without the vendor's doing is done by the shop. */
export const actorOf = ({ id, owner_id }: Pick<ShopRow, 'id' | 'owner_id'>): ShopActor => ({
  kind: 'shop',
  ownerId: owner_id,
  apps: null,
  shopId: id,
})

interface NewEvent {
  id: string
  /** When the shop sent it. */
  at: number
  /** Null for a test, and for an event that says nothing about an order. */
  body: string | null
  /** What a test says. */
  fact?: string
}

/** Stores an event of a shop; one of a paused shop waits until it is resumed. */
export async function storeEvent(
  write: WriteTransaction,
  { id }: Pick<ShopRow, 'id'>,
  event: NewEvent,
): Promise<void> {
  const { tx, now } = write
  // Whoever pauses, resumes or deletes the shop meanwhile changes when its events are due after this.
  const shop = await holdShop(tx, id)
  if (!shop || shop.deleted_at !== null) throw problem('not_found')
  const isUsed = event.body !== null || event.fact !== undefined
  const isStored = await insertEvent(tx, {
    shop_id: id,
    owner_id: shop.owner_id,
    app_id: shop.app_id,
    event_id: event.id,
    lane: `${shop.owner_id} ${id}`,
    body: event.body,
    fact: event.fact ?? null,
    sent_at: event.at,
    received_at: now,
    ...(isUsed
      ? { due_at: shop.active === 1 ? now : null }
      : { due_at: null, state: 'ignored', body_until: bodyUntil(now) }),
  })
  if (!isStored) return
  write.spend(rowBytes + (event.body?.length ?? 0))
  write.queues.add('shop events')
}

/** A row without its body, with its places in the indexes. */
const rowBytes = 600
