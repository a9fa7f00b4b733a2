import { type ApiKeyActor, system, type VendorActor } from '../../core/actor.ts'
import { second } from '../../core/clock.ts'
import { Problem } from '../../core/problem.ts'
import { schedule } from '../../core/queues/schedule.ts'
import type { ErasureRow } from '../../db/tables.ts'
import {
  claimErasure,
  endErasure,
  findDueErasure,
  noteSweep,
  openErasure,
} from '../customers/erasures.access.ts'
import {
  type Eraser,
  type ErasureParts,
  eraseCustomer,
  forgetWritten,
  type StoredPart,
  toErased,
} from './customer-records.erasure.ts'

interface Options {
  onError: (error: unknown) => void
  /** How often erasures of other nodes and of dead processes are looked for. */
  pollMs?: number | undefined
}

/** Finishes what other processes began, and looks again for what was written later, until the returned function is called. */
export function startErasures(
  parts: ErasureParts,
  { onError, pollMs = second }: Options,
): () => Promise<void> {
  // The lease of one that fails ends, and a later look tries it again.
  const work = async (signal: AbortSignal) => {
    while (!signal.aborted && (await finishNext(parts))) {}
  }
  return schedule(work, { everyMs: pollMs, firstMs: 0, onError })
}

/** Works on one erasure that is due; false if there is none. */
async function finishNext(parts: ErasureParts): Promise<boolean> {
  const { ctx } = parts
  const now = ctx.clock.now()
  if (!(await findDueErasure.first(ctx.db, { now }))) return false
  const row = await ctx.tx(system, ({ tx }) => claimErasure(tx, now))
  if (!row) return false
  const { person, by } = JSON.parse(openErasure(ctx.seal, row)) as StoredPart
  const actor = toActor(row, by)
  await parts.activity.drain()
  await forgetWritten(parts, actor, toErased(person, row.customer_id))
  if (row.ended_at !== null) await ctx.tx(actor, (write) => noteSweep(write, row))
  else await finish(parts, actor, row)
  return true
}

async function finish(
  parts: ErasureParts,
  actor: VendorActor,
  { customer_id: id }: ErasureRow,
): Promise<void> {
  try {
    await eraseCustomer(parts, actor, id)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    // A repeated call was faster, or the vendor has deleted all customers.
    await parts.ctx.tx(actor, (write) => endErasure(write, id))
  }
}

/** Who asked for the erasure; what it may do was checked then. */
const toActor = ({ owner_id: ownerId }: ErasureRow, by: Eraser): VendorActor =>
  ({ ...by, ownerId, apps: null, permissions: new Set(), isOwner: false }) as unknown as ApiKeyActor
