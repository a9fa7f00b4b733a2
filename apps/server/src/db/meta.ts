import type { Db } from './tables.ts'

/** Stores a value of the installation in place of the one before it. */
export async function putMeta(db: Db, name: string, value: string): Promise<void> {
  await db
    .insertInto('meta')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
