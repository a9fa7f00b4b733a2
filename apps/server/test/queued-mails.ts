import { openMail } from '../src/modules/mail/mail.queue.ts'
import type { Mail } from '../src/modules/mail/mail.service.ts'
import type { TestServer } from './harness.ts'

/** The mails that wait; those of the same moment in the order in which they expire. */
export async function queuedMails({
  database,
  seal,
}: Pick<TestServer, 'database' | 'seal'>): Promise<Mail[]> {
  const rows = await database.db
    .selectFrom('mails')
    .select(['id', 'sealed'])
    .where('state', '=', 'queued')
    .orderBy('created_at')
    .orderBy('expires_at')
    .orderBy('id')
    .execute()
  return rows.map(({ id, sealed }) => openMail(seal, id, sealed ?? ''))
}
