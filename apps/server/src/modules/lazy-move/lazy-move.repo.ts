import { sql } from 'kysely'
import { type Db, prepared, type Tx } from '../../db/index.ts'
import type { LazyMoveRow } from '../../db/tables.ts'
import type { LostKey, LostKeyReport } from '../description.ts'

// The caller has checked the owner of the app, or a program's session belongs to it.

export const findSettings = (db: Db, appId: string): Promise<LazyMoveRow | undefined> =>
  byApp.first(db, { appId })

const byApp = prepared((db, values: { appId: string }) =>
  db
    .selectFrom('lazy_moves')
    .select([
      'app_id',
      'owner_id',
      'url',
      'protocol',
      'old_name',
      'old_owner_id',
      'secret_sealed',
      'public_key',
      'until',
      'moved',
      'failed',
      'last_failure',
      'last_failure_at',
    ])
    .where('app_id', '=', values.appId),
)

type Settings = Omit<LazyMoveRow, 'moved' | 'failed' | 'last_failure' | 'last_failure_at'>

/** Saves the settings of an app, which the transaction has locked; the counts stay. */
export async function saveSettings(tx: Tx, settings: Settings): Promise<void> {
  const { app_id: _app, owner_id: _owner, ...change } = settings
  await tx
    .insertInto('lazy_moves')
    .values(settings)
    .onConflict((conflict) => conflict.column('app_id').doUpdateSet(change))
    .execute()
}

/** The statement that counts an end user who was taken over. */
export const countMoved = prepared((db, values: { appId: string }) =>
  db
    .updateTable('lazy_moves')
    .set((eb) => ({ moved: eb('moved', '+', 1) }))
    .where('app_id', '=', values.appId),
)

export async function countFailed(
  db: Db,
  app: { id: string },
  { reason, at }: { reason: string; at: number },
): Promise<void> {
  await db
    .updateTable('lazy_moves')
    .set({ failed: sql`failed + 1`, last_failure: reason, last_failure_at: at })
    .where('app_id', '=', app.id)
    .execute()
}

/** Ends the moves whose secret a lost secret key sealed. */
export async function loseKey({ tx, now }: LostKey): Promise<Pick<LostKeyReport, 'lazyMoves'>> {
  const ended = await tx
    .updateTable('lazy_moves')
    .set({ secret_sealed: null, until: now })
    .where('secret_sealed', 'is not', null)
    .returning('app_id')
    .execute()
  return { lazyMoves: ended.map(({ app_id }) => app_id) }
}
