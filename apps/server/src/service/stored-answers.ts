import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib'
import { limits } from '@keyward/contract'
import { type OfOwner, system } from '../core/actor.ts'
import type { Db, Tx, WriteTransaction } from '../db/index.ts'
import type { Ctx } from './ctx.ts'

/** The successful answer to a request. */
export interface Answer {
  data: unknown
  message?: string | undefined
}

/** The rights of the caller. A repeat by a caller who has lost one gets nothing that is stored. */
export interface Rights {
  permissions: readonly string[]
  apps: readonly string[] | null
}

/** What is stored for repeats: the answer, or until there is one, the result of the first transaction. */
export interface Stored extends Rights {
  results: unknown[]
  answer?: Answer
}

/** How much one transaction deletes: SQLite reads each page of an answer before it frees the page. */
const deletedAtOnce = { answers: 100, bytes: 4_194_304 }

/** Deletes what is stored of a request whose change was undone, so that a repeat tries again. */
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

/** Bounds what an account stores: the answers that end first make room. */
export async function makeRoom(ctx: Pick<Ctx, 'db' | 'tx'>, scope: OfOwner): Promise<void> {
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
export async function seal(ctx: Pick<Ctx, 'seal'>, content: Stored, id: string): Promise<string> {
  const text = JSON.stringify(content)
  const packed = text.length > longText ? await deflate(text) : deflateRawSync(text)
  return ctx.seal.seal(packed.toString('base64'), answerContext(id, content.answer !== undefined))
}

export async function open(
  ctx: Pick<Ctx, 'seal'>,
  { answer, runner }: { answer: string; runner: string | null },
  id: string,
): Promise<Stored> {
  const packed = ctx.seal.open(answer, answerContext(id, runner === null))
  return JSON.parse((await inflate(Buffer.from(packed, 'base64'))).toString())
}

export const answerContext = (id: string, isAnswered: boolean) =>
  `idempotency_keys.${isAnswered ? 'answer' : 'results'}:${id}`
