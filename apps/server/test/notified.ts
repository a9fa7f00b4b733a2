import { day, dayNumber } from '../src/core/clock.ts'
import { newId } from '../src/core/ids.ts'
import type { Mail } from '../src/modules/mail/mail.service.ts'
import { sendNotifications } from '../src/modules/notifications/notifications.scan.ts'
import { ctxOf, type TestServer } from './harness.ts'

export const consoleUrl = 'https://keys.example.com/k'

/** Lets the server look at the vendors that are due, and returns the mails that it queues. */
export async function look(on: TestServer): Promise<Mail[]> {
  const mails: Mail[] = []
  await sendNotifications(ctxOf(on), {
    consoleUrl: () => consoleUrl,
    onError: (error) => {
      throw error
    },
    queue: async (_ctx, _write, mail) => void mails.push(mail),
  })
  return mails
}

/** Lets the server look again after some time, in which every vendor becomes due. */
export function lookAfter(on: TestServer, ms: number): Promise<Mail[]> {
  on.clock.advance(ms)
  return look(on)
}

/** Confirms the address of a person, as a mailed link does. */
export async function confirmAddress(on: TestServer, { accountId }: { accountId: string }): Promise<void> {
  const { db } = on.database
  const account = db.selectFrom('accounts').select('email_normalized').where('id', '=', accountId)
  const { email_normalized } = await account.executeTakeFirstOrThrow()
  await db
    .updateTable('accounts')
    .set({ confirmed_email: email_normalized })
    .where('id', '=', accountId)
    .execute()
}

interface App {
  _id: string
}

/** Adds to what was counted of an app on a day. */
export async function addCount(
  on: TestServer,
  owner: { id: string },
  app: App,
  { metric, n, daysAgo }: { metric: 'activations' | 'licenses'; n: number; daysAgo: number },
): Promise<void> {
  const at = dayNumber(on.clock.now()) - daysAgo
  await on.database.db
    .insertInto('daily_counts')
    .values({ app_id: app._id, owner_id: owner.id, day: at, metric, n })
    .onConflict((conflict) => conflict.columns(['app_id', 'metric', 'day']).doUpdateSet({ n }))
    .execute()
}

/** Adds refusals of an app to the activity log. */
export async function addRefusals(
  on: TestServer,
  owner: { id: string },
  app: App,
  { times, daysAgo = 0, code = 'hwidMismatch' }: { times: number; daysAgo?: number; code?: string },
): Promise<void> {
  const { db } = on.database
  const at = on.clock.now() - daysAgo * day
  await db
    .insertInto('activity')
    .values({
      ...{ reference: newId('ref'), owner_id: owner.id, app_id: app._id, client_id: null },
      ...{ kind: 'refused', share: 'refusals', call: null, code, subject: null, address: null },
      ...{ detail: null, times, created_at: at, last_at: at },
    })
    .execute()
  await db
    .insertInto('activity_shares')
    .values({ app_id: app._id, share: 'refusals', owner_id: owner.id, n: 1 })
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'share']).doUpdateSet((eb) => ({ n: eb('activity_shares.n', '+', 1) })),
    )
    .execute()
}
