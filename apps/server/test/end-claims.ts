import { openDatabase } from '../src/db/open.ts'

/** Ends what a killed server had claimed to send, at once, and returns the mails. No server runs. */
export async function endClaims(database: { url: string | undefined; dataDir: string }) {
  const { db, close } = openDatabase(database)
  await db.updateTable('reset_requests').set({ due_at: 0 }).execute()
  await db.updateTable('mails').set({ due_at: 0 }).where('due_at', 'is not', null).execute()
  await db
    .updateTable('customer_mail_settings')
    .set({ look_at: 0 })
    .where('look_at', 'is not', null)
    .execute()
  const mails = await db.selectFrom('mails').select('state').execute()
  await close()
  return mails
}
