import type { DataOf, endpoints } from '@keyward/contract'
import { toOwnerActor, type VendorActor } from '../src/core/actor.ts'
import { importLicenses } from '../src/modules/imports/imports.call.ts'
import { ImportRunner } from '../src/modules/imports/imports.runner.ts'
import type { Ctx } from '../src/service/ctx.ts'
import { doOnce, type KeyedRequest } from '../src/service/idempotency.ts'
import type { Owner } from './actors.ts'
import { type TestServer, transactionsOn } from './harness.ts'

export type ImportResult = DataOf<typeof endpoints.bulk.importLicenses>

/** Runs imports whose transactions wait for `before`, which receives their numbers from 1. */
export const heldImportsOn =
  (on: TestServer) =>
  async (
    by: Owner,
    app: { _id: string },
    csv: string,
    before: (transaction: number) => Promise<void>,
    keyed?: KeyedRequest,
  ): Promise<ImportResult> => {
    const { clock, config, database, seal } = on
    const transact = transactionsOn(database, clock)
    let transactions = 0
    const tx: Ctx['tx'] = async (actor, work, options) => {
      // Only transactions that import something are counted.
      if (actor.kind !== 'system') {
        transactions += 1
        await before(transactions)
      }
      return transact(actor, work, options)
    }
    const actor: VendorActor = toOwnerActor({
      accountId: by.accountId,
      ownerId: by.id,
      sessionId: 'ses_1',
      address: '192.0.2.1',
    })
    const ctx = { clock, config, database, db: database.db, seal, tx } as Partial<Ctx> as Ctx
    const runner = new ImportRunner(ctx, { onError: () => {} })
    const work = (as: VendorActor) => importLicenses(ctx, runner, as, { app: app._id, csv, dryRun: false })
    if (!keyed) return work(actor)
    const { answer } = await doOnce(
      ctx,
      actor,
      keyed,
      async (as) => ({ data: await work(as) }),
      (error) => {
        throw error
      },
    )
    return answer.data as ImportResult
  }
