import { limits } from '@keyward/contract'
import { system } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { networkOf } from '../../core/networks/caller.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { ResetRequestRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { DeliveryRunner, listLanes } from '../../service/delivery-runner.ts'
import type { AccountKind } from './password-resets.repo.ts'
import * as repo from './reset-requests.repo.ts'

/** Whoever still waits for a link after that time has asked again. */
const keptMs = limits.resetLinkMinutes * minute

/** What someone typed who forgot a password. */
export interface ResetRequest {
  kind: AccountKind
  email: string
  address: string
}

/** What someone typed who wants a link to the page of an app. */
export interface AskedLink {
  kind: 'customer'
  /** The id of the app. */
  app: string
  email: string
  locale?: string | undefined
  address: string
}

interface Parts {
  ctx: Pick<Ctx, 'clock' | 'db' | 'seal' | 'tx'>
  /** Mails a link if there is such an account. It calls `take` in its transaction, which is false if another node did this. */
  handle: (
    request: ResetRequest | AskedLink,
    take: (write: WriteTransaction) => Promise<boolean>,
  ) => Promise<void>
  onError: (error: unknown) => void
  pollMs?: number | undefined
}

/** Requests for links: stored before the answer, looked up after it, on any node. */
export class ResetRequests {
  readonly #parts: Parts
  readonly #runner: DeliveryRunner<ResetRequestRow>

  constructor(parts: Parts) {
    this.#parts = parts
    const { ctx, onError, pollMs } = parts
    const now = () => ctx.clock.now()
    this.#runner = new DeliveryRunner<ResetRequestRow>(
      {
        hasDue: async () => (await repo.findDue.first(ctx.db, { now: now() })) !== undefined,
        listLanes: async (after, count) => {
          const page = await listLanes(ctx.db, 'reset_requests', { after, count, now: now() })
          const lanes = page.lanes.map((id) => ({ id, vendor: id, receiver: 'this server' }))
          return { lanes, next: page.next }
        },
        claim: ({ id }, { count, leaseMs }) =>
          ctx.tx(system, ({ tx }) => repo.claim(tx, id, { now: now(), until: now() + leaseMs, count })),
        deliver: (row) => this.#handle(row),
      },
      {
        clock: ctx.clock,
        onError,
        sizes: { quick: 4, reserved: 0, slow: 4, ofVendor: 2, slowOfVendor: 2 },
        ...(pollMs === undefined ? {} : { pollMs }),
      },
    )
  }

  async add(write: WriteTransaction, request: ResetRequest | AskedLink): Promise<void> {
    const { seal } = this.#parts.ctx
    const id = newId('rsq')
    await repo.insertRequest(write.tx, {
      id,
      network: seal.digest(`reset requests\n${networkOf(request.address)}`),
      sealed: seal.seal(JSON.stringify(request), resetRequestContext(id)),
      due_at: write.now,
      expires_at: write.now + keptMs,
    })
    write.queues.add('reset requests')
  }

  start(): void {
    this.#runner.start()
  }

  wake(): void {
    this.#runner.wake()
  }

  end(): Promise<void> {
    return this.#runner.end()
  }

  async #handle({ id, sealed }: ResetRequestRow): Promise<undefined> {
    const { ctx, handle } = this.#parts
    const request: ResetRequest | AskedLink = JSON.parse(ctx.seal.open(sealed, resetRequestContext(id)))
    await handle(request, ({ tx }) => repo.takeRequest(tx, id))
  }
}

export const resetRequestContext = (id: string): string => `reset_requests.sealed:${id}`
