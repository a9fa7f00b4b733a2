// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import type { Mail } from '../../src/modules/mail/mail.service.ts'
import { pauseFullWebhooks } from '../../src/modules/webhooks/webhooks.pauses.ts'
import { makeLicenses, single } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { ctxOf } from '../harness.ts'
import { confirmAddress } from '../notified.ts'
import { makeWebhook } from '../webhook-actor.ts'

const mails: Mail[] = []
const mailer = { send: async (mail: Mail) => void mails.push(mail), close: () => {} }
const on = serverForAll({}, { mailer, deliveriesEveryMs: 100 })
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

const shown = async (id: string) =>
  (await owner.call('GET', '/webhooks')).json.data.webhooks.find(({ _id }: { _id: string }) => _id === id)
/** Makes so many events wait for a webhook. */
const fill = (id: string, count: number) => {
  const [happenedAt, dueAt, expiresAt] = [0, hour, day].map((ms) => sql.lit(on.clock.now() + ms))
  return sql`insert into webhook_deliveries (webhook_id, owner_id, event_id, event, subject, actor_kind, actor_id,
      happened_at, due_at, expires_at)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})
    select w.id, w.owner_id, 'aud_' || n, 'license.banned', 'lic_' || n, 'owner', 'acc_1', ${happenedAt}, ${dueAt}, ${expiresAt}
    from numbers cross join webhooks w where w.id = ${id}`.execute(on.database.db)
}
const waitingFor = async (id: string) => {
  const waiting = on.database.db.selectFrom('webhook_deliveries').where('webhook_id', '=', id)
  const found = await waiting.where('due_at', 'is not', null).select('seq').execute()
  return found.length
}

test('a webhook for which more events wait than may wait is paused once, with its reason, and mails that', async () => {
  await confirmAddress(on, owner)
  const full = await makeWebhook(owner, { events: ['license.banned'] })
  const fits = await makeWebhook(owner, { events: ['license.unbanned'] })
  await fill(full._id, limits.webhookWaitingMax)
  await fill(fits._id, 1)
  const sweep = () => pauseFullWebhooks({ ctx: ctxOf(on), consoleUrl: () => 'https://keyward.example' })
  await sweep()
  expect(await shown(full._id)).toMatchObject({ active: true, pauseReason: null })

  const license = single(await makeLicenses(on, owner, app))
  await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`, {})
  await Promise.all([sweep(), sweep(), sweep()])
  expect(await shown(full._id)).toMatchObject({ active: false, pauseReason: 'full' })
  expect(await waitingFor(full._id)).toBe(0)
  expect(await shown(fits._id)).toMatchObject({ active: true, pauseReason: null })
  expect(await waitingFor(fits._id)).toBe(1)
  const paused = on.database.db.selectFrom('audit').select('detail').where('action', '=', 'webhook.paused')
  expect(await paused.where('target_id', '=', full._id).execute()).toEqual([{ detail: '{"reason":"full"}' }])
  await eventually(() => expect(mails).toHaveLength(1))
  expect(mails[0]).toMatchObject({ to: owner.email, subject: 'A webhook is paused' })
  expect(mails[0]?.text).toContain('More than 50,000 events waited for it.')

  await owner.call('PUT', `/webhooks/${full._id}`, { active: true })
  await sweep()
  expect(await shown(full._id)).toMatchObject({ active: true, pauseReason: null })
})
