import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib'
import { limits } from '@keyward/contract'
import type { CompiledQuery } from 'kysely'
import { type OfOwner, type ResellerActor, system, type VendorActor } from '../core/actor.ts'
import { hour } from '../core/clock.ts'
import { Problem, problem } from '../core/problem.ts'
import type { Database, Db, Tx, WriteTransaction } from '../db/index.ts'
import type { Ctx } from './ctx.ts'

/** A request that names itself with an Idempotency-Key. */
export interface KeyedRequest {
  key: string
  /** Method, path and input: a repeat has the same. */
  request: string
}

/** How a write stores its answer, if the request has a key. */
export interface Once<T> {
  /** The id of the stored answer. */
  id?: string
  /** Stores the answer together with the change. */
  remember(write: WriteTransaction, answer: T): void
  /** Packs a long answer before the transaction, so that no other write waits for that. */
  pack(answer: T): Promise<(write: WriteTransaction) => void>
}

export type Remember<T> = Once<T>['remember']

const keptMs = limits.idempotencyHours * hour
/** How much one transaction deletes: SQLite reads each page of an answer before it frees the page. */
const deletedAtOnce = { answers: 100, bytes: 4_194_304 }
const running = new WeakMap<Database, Set<string>>()

/**
 * Does a write once per Idempotency-Key: a repeat gets the stored answer and changes nothing. `work` must store its answer
 * in its transaction. A write that fails stores nothing, so that a repeat tries again. `settle` completes what an earlier
 * request with the key has left unfinished.
 */
export async function doOnce<T>(
  ctx: Ctx,
  actor: VendorActor | ResellerActor,
  keyed: KeyedRequest | undefined,
  work: (once: Once<T>) => Promise<T>,
  settle?: (id: string) => Promise<void>,
): Promise<T> {
  if (!keyed) return work(unkeyed)
  const { ownerId } = actor
  const holder = actor.kind === 'reseller' ? actor.resellerId : actor.actorId
  const id = ctx.seal.digest(`idempotency ${holder} ${keyed.key}`)
  const requestHash = ctx.seal.digest(keyed.request)
  const find = async (): Promise<{ answer: T } | undefined> => {
    await settle?.(id)
    const row = await ctx.db
      .selectFrom('idempotency_keys')
      .select(['request_hash', 'answer'])
      .where('id', '=', id)
      .where('expires_at', '>', ctx.clock.now())
      .executeTakeFirst()
    if (!row) return undefined
    if (row.request_hash !== requestHash) throw problem('idempotency_key_used')
    return { answer: (await open(ctx, row.answer, id)) as T }
  }
  const storeWith = (write: WriteTransaction, sealed: () => Promise<string>) => {
    const facts = { id, owner_id: ownerId, request_hash: requestHash, expires_at: write.now + keptMs }
    write.last(() => store(write, facts, sealed))
  }
  const once: Once<T> = {
    id,
    remember: (write, answer) => storeWith(write, () => seal(ctx, answer, id)),
    pack: async (answer) => {
      const sealed = await seal(ctx, answer, id)
      return (write) => storeWith(write, async () => sealed)
    },
  }

  const ids = running.get(ctx.database) ?? new Set()
  running.set(ctx.database, ids)
  if (ids.has(id)) throw problem('request_running')
  ids.add(id)
  try {
    const earlier = await find()
    if (earlier) return earlier.answer
    await makeRoom(ctx, actor)
    return await work(once).catch(async (error) => {
      // Another server may have run the same request meanwhile; its row then kept this one from being committed.
      const stored = await find().catch((failure) => {
        if (failure instanceof Problem) throw failure
      })
      if (stored) return stored.answer
      throw error
    })
  } finally {
    ids.delete(id)
  }
}

const unkeyed: Once<unknown> = { remember: () => {}, pack: async () => () => {} }

/** Replaces a stored answer, unless it was deleted meanwhile. */
export async function amendAnswer<T>(
  ctx: Pick<Ctx, 'seal'>,
  { tx }: WriteTransaction,
  id: string,
  change: (answer: T) => T,
): Promise<void> {
  const row = await tx.selectFrom('idempotency_keys').select('answer').where('id', '=', id).executeTakeFirst()
  if (!row) return
  const answer = await seal(ctx, change((await open(ctx, row.answer, id)) as T), id)
  await tx
    .updateTable('idempotency_keys')
    .set({ answer, bytes: answer.length })
    .where('id', '=', id)
    .execute()
}

/** Deletes a stored answer whose change was undone, so that a repeat tries again. */
export async function forgetAnswer({ tx }: WriteTransaction, id: string): Promise<void> {
  await tx.deleteFrom('idempotency_keys').where('id', '=', id).execute()
}

/** Deletes up to `count` stored answers of an account, the oldest first, and returns how many. */
export async function deleteAnswers(tx: Tx, { ownerId }: OfOwner, count: number): Promise<number> {
  const some = tx
    .selectFrom('idempotency_keys')
    .select('id')
    .where('owner_id', '=', ownerId)
    .orderBy('expires_at')
    .limit(count)
  const deleted = await tx.deleteFrom('idempotency_keys').where('id', 'in', some).returning('id').execute()
  return deleted.length
}

interface Facts {
  id: string
  owner_id: string
  request_hash: string
  expires_at: number
}

/** Inserting fails if another server has stored an answer, which undoes the whole change. */
async function* store(
  write: WriteTransaction,
  facts: Facts,
  sealed: () => Promise<string>,
): AsyncGenerator<CompiledQuery> {
  const { id } = facts
  const { tx, now } = write
  yield tx.deleteFrom('idempotency_keys').where('id', '=', id).where('expires_at', '<=', now).compile()
  const answer = await sealed()
  write.spend(answer.length)
  yield tx
    .insertInto('idempotency_keys')
    .values({ ...facts, answer, bytes: answer.length })
    .compile()
}

/** Bounds what an account stores: the answers that end first make room. */
async function makeRoom(ctx: Ctx, scope: OfOwner): Promise<void> {
  while (await isFull(ctx.db, scope)) await ctx.tx(system, ({ tx }) => deleteOldest(tx, scope))
}

export async function isFull(db: Db, { ownerId }: OfOwner): Promise<boolean> {
  const { count, bytes } = await db
    .selectFrom('idempotency_keys')
    .select(({ fn }) => [fn.countAll().as('count'), fn.sum('bytes').as('bytes')])
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  return Number(count) >= limits.idempotencyKeysMax || Number(bytes) >= limits.idempotencyBytesMax
}

export async function deleteOldest(tx: Tx, { ownerId }: OfOwner): Promise<void> {
  const oldest = await tx
    .selectFrom('idempotency_keys')
    .select(['id', 'bytes'])
    .where('owner_id', '=', ownerId)
    .orderBy('expires_at')
    .limit(deletedAtOnce.answers)
    .execute()
  let bytes = 0
  const some = oldest.filter((answer, at) => {
    bytes += answer.bytes
    return at === 0 || bytes <= deletedAtOnce.bytes
  })
  const ids = some.map(({ id }) => id)
  if (ids.length > 0) await tx.deleteFrom('idempotency_keys').where('id', 'in', ids).execute()
}

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)
/** Shorter texts are packed on the server's thread: they take milliseconds, less than waiting while passwords are hashed. */
const longText = 262_144

// Answers contain license keys and names. Those of many rows are similar to each other, so they shrink to a tenth.
async function seal(ctx: Pick<Ctx, 'seal'>, answer: unknown, id: string): Promise<string> {
  const text = JSON.stringify(answer)
  const packed = text.length > longText ? await deflate(text) : deflateRawSync(text)
  return ctx.seal.seal(packed.toString('base64'), contextOf(id))
}

async function open(ctx: Pick<Ctx, 'seal'>, sealed: string, id: string): Promise<unknown> {
  const packed = ctx.seal.open(sealed, contextOf(id))
  return JSON.parse((await inflate(Buffer.from(packed, 'base64'))).toString())
}

const contextOf = (id: string) => `idempotency_keys.answer:${id}`
