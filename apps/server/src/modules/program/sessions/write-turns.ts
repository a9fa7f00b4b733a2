import { problem } from '../../../core/problem.ts'
import { FairQueue } from '../../../core/queues/fair-queue.ts'
import type { Database } from '../../../db/index.ts'
import type { SessionFacts } from '../facts/facts.ts'

/** Runs `work` outside of the turn, which begins again afterwards. */
export type Pause = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Programs take turns to write, so that one address or app cannot hold up the others. */
export class WriteTurns {
  readonly #queue: FairQueue

  constructor({ engine }: Pick<Database, 'engine'>) {
    this.#queue = new FairQueue({
      running: engine.programWritesMost,
      waiting: 1000,
      startsPerTurn: 1,
      rejection: () => problem('busy', { retryAfterSeconds: 1 }),
    })
  }

  get waiting(): number {
    return this.#queue.waiting
  }

  async take<Result>(
    { app, endUser }: Pick<SessionFacts, 'app' | 'endUser'>,
    address: string,
    work: (pause: Pause) => Promise<Result>,
  ): Promise<Result> {
    const enter = () => this.#queue.enter({ address, account: app.id, isKnown: endUser !== null })
    let endTurn = await enter()
    const pause: Pause = async (outside) => {
      endTurn()
      try {
        return await outside()
      } finally {
        endTurn = await enter()
      }
    }
    return work(pause).finally(() => endTurn())
  }
}
