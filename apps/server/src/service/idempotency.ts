import { limits } from '@keyward/contract'
import { type ResellerActor, system, type VendorActor } from '../core/actor.ts'
import { hour } from '../core/clock.ts'
import { newId } from '../core/ids.ts'
import { Problem, problem } from '../core/problem.ts'
import type { Database, Step, Steps, StepTransaction } from '../db/index.ts'
import type { Ctx } from './ctx.ts'
import { type Answer, makeRoom, open, type Rights, type Stored, seal } from './stored-answers.ts'

export type { Answer }

/** A request that names itself with an Idempotency-Key. */
export interface KeyedRequest {
  key: string
  /** Method, path and input: a repeat has the same. */
  request: string
}

type Holder = VendorActor | ResellerActor
type Needs = Pick<Ctx, 'clock' | 'database' | 'db' | 'seal' | 'tx'>

const keptMs = limits.idempotencyHours * hour
const running = new WeakMap<Database, Set<string>>()

/**
 * Does a request once per Idempotency-Key. The first transaction of the actor that `work` gets stores its result in its own
 * commit, the answer is stored at the end. A repeat gets the answer; after an interruption it runs `work` again, in which
 * the first transaction returns its stored result, and is refused if there was to be another one. A request that fails
 * before its first commit stores nothing.
 */
export async function doOnce<Actor extends Holder>(
  ctx: Needs,
  actor: Actor,
  keyed: KeyedRequest,
  work: (actor: Actor) => Promise<Answer>,
  onError: (error: unknown) => void,
): Promise<{ answer: Answer; isRepeat: boolean }> {
  const holder = actor.kind === 'reseller' ? actor.resellerId : actor.actorId
  const id = ctx.seal.digest(`idempotency ${holder} ${keyed.key}`)
  const requestHash = ctx.seal.digest(`${actor.ownerId} ${keyed.request}`)
  const ids = running.get(ctx.database) ?? new Set()
  running.set(ctx.database, ids)
  if (ids.has(id)) throw problem('request_running')
  ids.add(id)
  try {
    for (;;) {
      const request = new OnceRequest(ctx, actor, { id, requestHash })
      const answer = await request.begin()
      if (answer) return { answer, isRepeat: true }
      try {
        const made = await work({ ...actor, steps: request })
        await request.finish(made).catch(onError)
        return { answer: made, isRepeat: request.isRepeat }
      } catch (error) {
        if (!request.hasLostStart) throw request.explain(error)
      }
    }
  } finally {
    ids.delete(id)
  }
}

class OnceRequest implements Steps {
  readonly id: string
  /** Whether another server has committed the first transaction of the same request. */
  hasLostStart = false
  readonly #ctx: Needs
  readonly #actor: Holder
  readonly #requestHash: string
  /** Names this run: of two at once, one commits its first transaction. */
  readonly #runner = newId('run')
  /** What an earlier request with the key has committed before it was interrupted. */
  #stored: { result: unknown } | undefined
  #hasCommitted = false
  #packed: { result: unknown; sealed: string } | undefined

  constructor(ctx: Needs, actor: Holder, { id, requestHash }: { id: string; requestHash: string }) {
    this.#ctx = ctx
    this.#actor = actor
    this.id = id
    this.#requestHash = requestHash
  }

  get isRepeat(): boolean {
    return this.#stored !== undefined
  }

  /** Returns the stored answer; otherwise the request may run. */
  async begin(): Promise<Answer | undefined> {
    const { db, clock, tx } = this.#ctx
    const row = await db
      .selectFrom('idempotency_keys')
      .select(['request_hash', 'answer', 'runner'])
      .where('id', '=', this.id)
      .where('expires_at', '>', clock.now())
      .executeTakeFirst()
    if (!row) {
      await makeRoom(this.#ctx, this.#actor)
      return undefined
    }
    if (row.request_hash !== this.#requestHash) throw problem('idempotency_key_used')
    const stored = await open(this.#ctx, row, this.id)
    refuseLostRights(this.#actor, stored)
    if (row.runner === null) return stored.answer
    if (!(await tx(system, (write) => takeOver(write, this.id, this.#runner)))) return this.begin()
    this.#stored = { result: stored.results[0] }
    return undefined
  }

  next(): Step | undefined {
    if (this.#hasCommitted) {
      if (this.#stored) throw problem('request_interrupted')
      return undefined
    }
    if (this.#stored) this.#hasCommitted = true
    return {
      stored: this.#stored,
      store: (write, result) => this.#store(write, result),
      committed: () => {
        this.#hasCommitted = true
      },
    }
  }

  async pack(result: unknown): Promise<void> {
    this.#packed = { result, sealed: await this.#seal({ results: [result] }) }
  }

  /** Stores the answer. If that fails, a repeat makes it again. */
  async finish(answer: Answer): Promise<void> {
    const sealed = await this.#seal({ results: [], answer })
    await this.#ctx.tx(system, (write) => this.#put(write, sealed, null))
  }

  /** A repeat that fails before it reaches what was committed must not look as if nothing had been changed. */
  explain(error: unknown): unknown {
    const isRefused = error instanceof Problem && [400, 404, 409].includes(error.status)
    return isRefused && this.#stored && !this.#hasCommitted ? problem('request_interrupted') : error
  }

  async #store(write: StepTransaction, result: unknown): Promise<void> {
    const sealed =
      this.#packed && this.#packed.result === result
        ? this.#packed.sealed
        : await this.#seal({ results: [result ?? null] })
    if (!(await this.#put(write, sealed, this.#runner))) {
      this.hasLostStart = true
      throw problem('request_running')
    }
    write.spend(sealed.length)
  }

  /** Returns false if another run has stored its first transaction. */
  async #put({ tx, now }: StepTransaction, answer: string, runner: string | null): Promise<boolean> {
    const row = {
      owner_id: this.#actor.ownerId,
      request_hash: this.#requestHash,
      answer,
      bytes: answer.length,
      runner,
      expires_at: now + keptMs,
    }
    const put = await tx
      .insertInto('idempotency_keys')
      .values({ id: this.id, ...row })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet(row)
          .where((eb) =>
            eb.or([
              runner === null
                ? eb('idempotency_keys.runner', 'is not', null)
                : eb('idempotency_keys.runner', '=', runner),
              eb('idempotency_keys.expires_at', '<=', now),
            ]),
          ),
      )
      .returning('id')
      .executeTakeFirst()
    return put !== undefined
  }

  #seal(content: Pick<Stored, 'results' | 'answer'>): Promise<string> {
    return seal(this.#ctx, { ...rightsOf(this.#actor), ...content }, this.id)
  }
}

const rightsOf = (actor: Holder): Rights =>
  actor.kind === 'reseller'
    ? { permissions: [], apps: null }
    : { permissions: [...actor.permissions], apps: actor.apps && [...actor.apps] }

function refuseLostRights(actor: Holder, before: Rights): void {
  const { permissions, apps } = rightsOf(actor)
  if (before.permissions.some((permission) => !permissions.includes(permission)))
    throw problem('permission_missing')
  if (apps && !before.apps?.every((app) => apps.includes(app))) throw problem('not_found')
}

/**
 * Hands an interrupted request to a new run; false if it has been answered meanwhile. Once this is on disk, and on a
 * standby that commits wait for, what the request has committed is, too.
 */
async function takeOver({ tx }: StepTransaction, id: string, runner: string): Promise<boolean> {
  const row = await tx
    .updateTable('idempotency_keys')
    .set({ runner })
    .where('id', '=', id)
    .where('runner', 'is not', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
