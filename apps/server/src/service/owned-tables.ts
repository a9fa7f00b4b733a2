import type { Tx } from '../db/index.ts'
import type { OwnedTables } from '../db/owned-tables.ts'
import { answerContext } from './stored-answers.ts'

/** What `service` owns, described like a module. */
export const service = {
  tables: {
    attempts: { key: ['key'], expires: 'window_ends' },
    known_addresses: { key: ['account', 'address'], expires: 'expires_at' },
    idempotency_keys: {
      ...{ key: ['id'], expires: 'expires_at', needs: ['runner'], atOnce: 10 },
      sealed: { answer: (id, { runner }) => answerContext(id, runner === null) },
    },
  } satisfies OwnedTables as OwnedTables,
  loseKey: async ({ tx }: { tx: Tx }) => {
    const lost = await tx.deleteFrom('idempotency_keys').returning('id').execute()
    return { storedAnswers: lost.length }
  },
}
