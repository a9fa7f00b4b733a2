import { describe, expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { recipientOf } from '../../src/modules/notifications/notifications.access.ts'
import { sendNotifications } from '../../src/modules/notifications/notifications.scan.ts'
import { activateKey, makeApp, makeLicenses, makePremium, type Owner, refusal, signUp } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { ctxOf, startServer } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { addMember } from '../member-actor.ts'
import { addCount, addRefusals, confirmAddress, consoleUrl, look, lookAfter } from '../notified.ts'
import { insertOwners } from '../owner-rows.ts'
import { makeReseller } from '../reseller-actor.ts'
import { rounds } from '../rounds.ts'
import { makeMailedOrder, makeShop, makeWaitingOrder } from '../shop-actor.ts'
import { SmtpSink } from '../smtp-sink.ts'

const on = serverForAll()
const path = '/settings/notifications'

const defaults = {
  newSignIn: true,
  keysRunningOut: false,
  quotaRunningOut: false,
  licensesExpiring: false,
  refusalsRising: false,
  webhookFailing: true,
  ordersWaiting: false,
  weeklySummary: false,
}

/** A vendor whose owner has a confirmed address and wants these mails. */
async function vendorWanting(...kinds: string[]): Promise<Owner> {
  const owner = await signUp(on)
  await confirmAddress(on, owner)
  await want(owner, ...kinds)
  return owner
}

async function want(person: Pick<Owner, 'call'>, ...kinds: string[]) {
  const body = Object.fromEntries(kinds.map((kind) => [kind, true]))
  expect((await person.call('PUT', path, body)).status).toBe(200)
}

const lookFor = async (person: { email: string }, afterMs = 0) =>
  (await lookAfter(on, afterMs)).filter(({ to }) => to === person.email)

const nextMonday = () => {
  const now = on.clock.now()
  const days = (8 - new Date(now).getUTCDay()) % 7 || 7
  return Math.floor(now / day) * day + days * day + 8 * hour - now
}

describe('the settings', () => {
  test('have defaults, change one at a time, and record both states', async () => {
    const owner = await signUp(on)
    expect((await owner.call('GET', path)).json.data).toEqual(defaults)
    const changed = await owner.call('PUT', path, { weeklySummary: true, newSignIn: false })
    const after = { ...defaults, weeklySummary: true, newSignIn: false }
    expect(changed.json.data).toEqual(after)
    expect((await owner.call('PUT', path, { ordersWaiting: true })).json.data.ordersWaiting).toBe(true)
    const records = await on.database.db
      .selectFrom('audit')
      .select(['detail', 'target_id'])
      .where('owner_id', '=', owner.id)
      .where('action', '=', 'notifications.updated')
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    expect(records).toHaveLength(2)
    const first = records.find(({ detail }) => JSON.parse(detail ?? '').before.newSignIn)
    expect(JSON.parse(first?.detail ?? '')).toEqual({ before: defaults, after })
    expect(first?.target_id).toBe(owner.accountId)
  })

  test('refuse an empty change, unknown kinds and other values', async () => {
    const owner = await signUp(on)
    for (const body of [{}, { everything: true }, { weeklySummary: 'yes' }])
      expect(refusal(await owner.call('PUT', path, body))).toBe('invalid_input')
  })

  test('belong to the person at this vendor, but new sign-ins to the person', async () => {
    const owner = await signUp(on)
    const member = await addMember(on, owner, { role: 'manager' })
    await want(member, 'weeklySummary')
    expect((await owner.call('GET', path)).json.data).toEqual(defaults)
    expect((await member.call('GET', path)).json.data).toEqual({ ...defaults, weeklySummary: true })
  })

  test('are read by viewers, changed by managers, and belong to no API key', async () => {
    const owner = await signUp(on)
    const viewer = await addMember(on, owner, { role: 'viewer' })
    const support = await addMember(on, owner)
    expect((await viewer.call('GET', path)).status).toBe(200)
    expect(refusal(await viewer.call('PUT', path, { weeklySummary: true }))).toBe('permission_missing')
    expect(refusal(await support.call('GET', path))).toBe('permission_missing')
    const body = { name: 'shop', permissions: ['settings:read', 'settings:write'] }
    const { key } = (await owner.call('POST', '/api-keys', body)).json.data
    for (const [method, sent] of [['GET', undefined] as const, ['PUT', { newSignIn: false }] as const])
      expect(refusal(await on.call(method, path, { token: key, body: sent }))).toBe('api_key_not_allowed')
  })

  test('many changes at once lose none', async () => {
    const owner = await signUp(on)
    const kinds = Object.keys(defaults).filter((kind) => !defaults[kind as keyof typeof defaults])
    await Promise.all(kinds.map((kind) => want(owner, kind)))
    const all = Object.fromEntries(Object.keys(defaults).map((kind) => [kind, true]))
    expect((await owner.call('GET', path)).json.data).toEqual(all)
  })
})

describe('keys running out', () => {
  test('is told once, not again until there were enough, and with the numbers', async () => {
    const owner = await vendorWanting('keysRunningOut')
    const app = await makeApp(owner, 'Atlas')
    await makeLicenses(on, owner, app, 4)
    expect(await lookFor(owner)).toEqual([])
    await addCount(on, owner, app, { metric: 'activations', n: 5, daysAgo: 1 })
    const [mail, ...more] = await lookFor(owner, hour)
    expect(more).toEqual([])
    expect(mail?.subject).toBe('Unused keys are running out')
    expect(mail?.text).toContain('“Atlas” has 4 unused keys left. In the last 7 days, 5 were redeemed.')
    expect(mail?.text).toContain(`Turn it off at ${consoleUrl}/settings/notifications`)
    expect(mail?.html).toContain(`<a href="${consoleUrl}/settings/notifications">`)
    expect(await lookFor(owner, 2 * day)).toEqual([])

    await makeLicenses(on, owner, app, 4)
    expect(await lookFor(owner, hour)).toEqual([])
    await addCount(on, owner, app, { metric: 'activations', n: 20, daysAgo: 0 })
    // Gone and back within a week: the person knows.
    expect(await lookFor(owner, day)).toEqual([])
    await addCount(on, owner, app, { metric: 'activations', n: 20, daysAgo: 0 })
    expect(await lookFor(owner, 5 * day)).toHaveLength(1)
    expect(await lookFor(owner, hour)).toEqual([])
  })

  test('is not told about an app that hardly sells', async () => {
    const owner = await vendorWanting('keysRunningOut')
    const app = await makeApp(owner)
    await addCount(on, owner, app, { metric: 'activations', n: 2, daysAgo: 1 })
    expect(await lookFor(owner, hour)).toEqual([])
  })
})

describe('limits nearly used up', () => {
  test('tells of resellers from 90 % on, in one mail, and at most once a day', async () => {
    const owner = await vendorWanting('quotaRunningOut')
    await makePremium(on, owner)
    const app = await makeApp(owner)
    const [first, second] = [await makeReseller(on, owner, app, 20), await makeReseller(on, owner, app, 20)]
    const use = (reseller: { _id: string }, license_count: number) =>
      on.database.db.updateTable('resellers').set({ license_count }).where('id', '=', reseller._id).execute()
    await use(first, 17)
    expect(await lookFor(owner, hour)).toEqual([])
    await use(first, 18)
    const [mail] = await lookFor(owner, hour)
    expect(mail?.text.replaceAll('\u200b', '')).toContain(
      `The reseller “${first.email}” of “Atlas” has generated 18 of 20 licenses.`,
    )
    await use(second, 20)
    expect(await lookFor(owner, hour)).toEqual([])
    const [next] = await lookFor(owner, day)
    expect(next?.text.replaceAll('\u200b', '')).toContain(second.email)
    expect(next?.text.replaceAll('\u200b', '')).not.toContain(first.email)
  })

  test('tells of the limits of the free plan, and not on premium', async () => {
    const owner = await vendorWanting('quotaRunningOut')
    const app = await makeApp(owner)
    await makeLicenses(on, owner, app, 26)
    expect(await lookFor(owner)).toEqual([])
    await makeLicenses(on, owner, app, 1)
    expect((await lookFor(owner, hour))[0]?.text).toContain(
      '“Atlas” has 27 of the 30 licenses of the free plan.',
    )
    await makeApp(owner, 'Boreas')
    expect((await lookFor(owner, day))[0]?.text).toContain(
      'You have 2 of the 2 applications of the free plan.',
    )
    const rich = await vendorWanting('quotaRunningOut')
    await makePremium(on, rich)
    await makeApp(rich)
    await makeApp(rich, 'Boreas')
    expect(await lookFor(rich, hour)).toEqual([])
  })
})

describe('licenses about to end', () => {
  test('each counts in one mail, at most one a day, none on days without new ones', async () => {
    const owner = await vendorWanting('licensesExpiring')
    const app = await makeApp(owner)
    await activateKey(on, owner, app)
    await makeLicenses(on, owner, app, 3)
    expect(await lookFor(owner)).toEqual([])
    const [mail] = await lookFor(owner, 24 * day)
    expect(mail?.subject).toBe('Licenses end within 7 days')
    expect(mail?.text).toContain('“Atlas”: 1 license.')
    for (let days = 0; days < 7; days += 1) expect(await lookFor(owner, day)).toEqual([])
  })
})

describe('more refusals than usual', () => {
  test('is told with the most frequent reason, and again after a quiet time', async () => {
    const owner = await vendorWanting('refusalsRising')
    const app = await makeApp(owner)
    on.clock.advance(10 * day)
    for (let daysAgo = 1; daysAgo <= 7; daysAgo += 1)
      await addRefusals(on, owner, app, { times: 20, daysAgo: daysAgo + 0.5 })
    await addRefusals(on, owner, app, { times: 45, code: 'keyNotFound' })
    expect(await lookFor(owner, hour)).toEqual([])
    await addRefusals(on, owner, app, { times: 60 })
    const [mail] = await lookFor(owner, hour)
    expect(mail?.text).toContain('“Atlas” refused 105 requests in the last 24 hours; usual are 20 a day.')
    expect(mail?.text).toContain('The most frequent reason: Hardware ID mismatch.')
    expect(await lookFor(owner, hour)).toEqual([])
    expect(await lookFor(owner, 2 * day)).toEqual([])
    await addRefusals(on, owner, app, { times: 900 })
    expect(await lookFor(owner, hour)).toHaveLength(1)
  })

  test('is not told about many refusals that are usual, nor about few', async () => {
    const owner = await vendorWanting('refusalsRising')
    const app = await makeApp(owner)
    on.clock.advance(10 * day)
    for (let daysAgo = 1; daysAgo <= 7; daysAgo += 1)
      await addRefusals(on, owner, app, { times: 100, daysAgo: daysAgo + 0.5 })
    await addRefusals(on, owner, app, { times: 150 })
    const quiet = await makeApp(owner, 'Boreas')
    await addRefusals(on, owner, quiet, { times: 49 })
    expect(await lookFor(owner, hour)).toEqual([])
  })
})

describe('the weekly summary', () => {
  test('is sent on Monday from 08:00 UTC, once, also late on that day, and not on Tuesday', async () => {
    const owner = await vendorWanting('weeklySummary')
    const app = await makeApp(owner)
    await makeLicenses(on, owner, app, 3)
    await activateKey(on, owner, app)
    await addRefusals(on, owner, app, { times: 7 })
    const toMonday = nextMonday()
    expect(await lookFor(owner, toMonday - 1)).toEqual([])
    const [mail, ...more] = await lookFor(owner, 1)
    expect(more).toEqual([])
    expect(mail?.subject).toBe('Your week in Keyward')
    expect(mail?.text).toContain(
      '“Atlas”: 4 new licenses (0 the week before), 1 activation (0), 1 license in use, 0 of them end within 7 days, 7 refusals.',
    )
    for (let hours = 0; hours < 15; hours += 1) expect(await lookFor(owner, hour)).toEqual([])
    expect(await lookFor(owner, nextMonday())).toHaveLength(1)
    // A server that was down from Sunday to Tuesday says nothing about last week.
    expect(await lookFor(owner, 8 * day)).toEqual([])
    expect((await lookFor(owner, nextMonday() + 15 * hour)).length).toBe(1)
  })

  test('is not sent about a vendor without any activity', async () => {
    const owner = await vendorWanting('weeklySummary')
    await makeApp(owner)
    expect(await lookFor(owner, nextMonday())).toEqual([])
  })
})

describe('who is told', () => {
  const sellOut = async (owner: Owner, name: string) => {
    const app = await makeApp(owner, name)
    await addCount(on, owner, app, { metric: 'activations', n: 5, daysAgo: 1 })
    return app
  }

  test('of waiting orders is told once, with their reasons, and of its own apps alone', async () => {
    const owner = await vendorWanting('ordersWaiting')
    const [atlas, boreas] = [await makeApp(owner, 'Atlas'), await makeApp(owner, 'Boreas')]
    const member = await addMember(on, owner, { role: 'manager', apps: [boreas._id] })
    await confirmAddress(on, member)
    await want(member, 'ordersWaiting')
    await makeWaitingOrder(on, owner, await makeShop(owner, atlas._id))
    const mails = await look(on)
    expect(mails.map(({ to }) => to)).toEqual([owner.email])
    expect(mails[0]?.subject).toBe('Orders wait for you')
    expect(mails[0]?.text).toContain('of “Atlas”: No license type is chosen for the product “pro”.')
    expect(await lookFor(owner, 2 * day)).toEqual([])
  })

  test('of orders whose keys could not be mailed is told once, as long as their mails are kept', async () => {
    const owner = await vendorWanting('ordersWaiting')
    const app = await makeApp(owner, 'Atlas')
    const [late, old, resent] = [
      await makeMailedOrder(on, owner, app._id),
      await makeMailedOrder(on, owner, app._id),
      await makeMailedOrder(on, owner, app._id),
    ]
    const { db } = on.database
    for (const { _id } of [late, old, resent]) {
      await db.updateTable('shop_orders').set({ mail: 'failed' }).where('id', '=', _id).execute()
      await db.updateTable('mails').set({ state: 'failed' }).where('id', 'like', `${_id}.%`).execute()
    }
    await db.updateTable('shop_orders').set({ mail: 'sent' }).where('id', '=', resent._id).execute()
    // Mails are kept for a week.
    await db.deleteFrom('mails').where('id', 'like', `${old._id}.%`).execute()
    const mails = await look(on)
    expect(mails.map(({ to }) => to)).toEqual([owner.email])
    expect(mails[0]?.text.match(/its keys could not be mailed to the buyer/g)).toHaveLength(1)
    expect(mails[0]?.text).toContain('of “Atlas”')
    expect(await lookFor(owner, 2 * day)).toEqual([])
  })

  test('is told of its own apps alone', async () => {
    const owner = await signUp(on)
    const [atlas] = [await sellOut(owner, 'Atlas'), await sellOut(owner, 'Boreas')]
    const member = await addMember(on, owner, { role: 'manager', apps: [atlas._id] })
    await confirmAddress(on, member)
    await want(member, 'keysRunningOut', 'quotaRunningOut')
    const mails = await lookFor(member)
    expect(mails).toHaveLength(1)
    expect(mails[0]?.text).toContain('“Atlas”')
    expect(mails[0]?.text).not.toContain('Boreas')
    expect(mails[0]?.text).not.toContain('of the free plan')
  })

  test('is no one who has left, may not change it any more, or lacks a required second factor', async () => {
    const owner = await signUp(on)
    await sellOut(owner, 'Atlas')
    const member = async () => {
      const one = await addMember(on, owner, { role: 'manager' })
      await confirmAddress(on, one)
      await want(one, 'keysRunningOut')
      return one
    }
    const [left, viewer] = [await member(), await member()]
    await owner.call('DELETE', `/members/${left._id}`)
    await owner.call('PATCH', `/members/${viewer._id}`, { role: 'viewer', apps: null })
    expect(await look(on)).toEqual([])
    const stays = await member()
    const require = (require_second_factor: 0 | 1) =>
      on.database.db.updateTable('owners').set({ require_second_factor }).where('id', '=', owner.id).execute()
    await require(1)
    expect(await lookFor(stays, hour)).toEqual([])
    await require(0)
    expect(await lookFor(stays, hour)).toHaveLength(1)
  })

  test('is no one whose address is not confirmed, or is another one since', async () => {
    const owner = await signUp(on)
    await sellOut(owner, 'Atlas')
    await want(owner, 'keysRunningOut')
    expect(await look(on)).toEqual([])
    await confirmAddress(on, owner)
    const email = `moved.${owner.email}`
    expect((await owner.call('PUT', '/auth/email', { email, password: owner.password })).status).toBe(200)
    expect(await lookAfter(on, hour)).toEqual([])
    await confirmAddress(on, owner)
    expect(await lookFor({ email }, hour)).toHaveLength(1)
  })

  test('is no one who has turned it off', async () => {
    const owner = await vendorWanting('keysRunningOut')
    await sellOut(owner, 'Atlas')
    await owner.call('PUT', path, { keysRunningOut: false })
    expect(await look(on)).toEqual([])
    const rows = on.database.db.selectFrom('notification_scans').selectAll().where('owner_id', '=', owner.id)
    expect(await rows.execute()).toEqual([])
  })
})

test('a failing webhook is mailed to who wants it and may read webhooks', async () => {
  const owner = await signUp(on)
  const wants = async ({ accountId }: { accountId: string }) =>
    (await recipientOf(on.database.db, { ownerId: owner.id, accountId }, 'webhookFailing')) !== undefined
  expect(await wants(owner)).toBe(false)
  const [manager, support] = [await addMember(on, owner, { role: 'manager' }), await addMember(on, owner)]
  for (const person of [owner, manager, support]) await confirmAddress(on, person)
  expect([await wants(owner), await wants(manager), await wants(support)]).toEqual([true, true, false])
  await manager.call('PUT', path, { webhookFailing: false })
  expect(await wants(manager)).toBe(false)
  expect(await wants(await signUp(on))).toBe(false)
})

test('names that others chose add no header, no link and no markup', async () => {
  const owner = await vendorWanting('keysRunningOut')
  const app = await makeApp(owner, '<b>https://evil.example/x</b>')
  await addCount(on, owner, app, { metric: 'activations', n: 5, daysAgo: 1 })
  const [mail] = await lookFor(owner)
  expect(mail?.subject).toBe('Unused keys are running out')
  expect(mail?.text).not.toContain('evil.example')
  expect(mail?.text).not.toContain('https://evil')
  expect(mail?.html).toContain('&lt;b&gt;https')
  expect(mail?.html).not.toContain('<b>')
})

test('two nodes that look at once send each mail once', async () => {
  const owner = await vendorWanting('keysRunningOut', 'weeklySummary', 'quotaRunningOut')
  const app = await makeApp(owner)
  await makeLicenses(on, owner, app, 28)
  await addCount(on, owner, app, { metric: 'activations', n: 50, daysAgo: 1 })
  on.clock.advance(nextMonday())
  await addCount(on, owner, app, { metric: 'activations', n: 50, daysAgo: 1 })
  const due = () =>
    on.database.db
      .updateTable('notification_scans')
      .set({ next_at: 0 })
      .where('owner_id', '=', owner.id)
      .execute()
  const all = (
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        await due()
        return look(on)
      }),
    )
  )
    .flat()
    .filter(({ to }) => to === owner.email)
  expect(all.map(({ subject }) => subject).sort()).toEqual([
    'Limits are nearly used up',
    'Unused keys are running out',
    'Your week in Keyward',
  ])
})

test('a mail that could not be queued is not marked as sent', async () => {
  const owner = await vendorWanting('keysRunningOut')
  const app = await makeApp(owner)
  await addCount(on, owner, app, { metric: 'activations', n: 5, daysAgo: 1 })
  const errors: unknown[] = []
  await sendNotifications(ctxOf(on), {
    consoleUrl: () => consoleUrl,
    onError: (error) => errors.push(error),
    queue: async () => {
      throw new Error('killed')
    },
  })
  expect(errors).toHaveLength(1)
  expect(await lookFor(owner, hour)).toHaveLength(1)
})

test('each of many vendors is checked for news once in an hour', async () => {
  const { db } = on.database
  const ids = Array.from({ length: rounds(60, 1000) }, (_, index) => `own_many_${index}`)
  const now = on.clock.now()
  for (let at = 0; at < ids.length; at += 100) {
    const some = ids.slice(at, at + 100)
    const owners = some.map((id) => ({
      id,
      name: id,
      email: `${id}@example.com`,
      created_at: 1,
      premium_until: null,
    }))
    await insertOwners(db, owners)
    const settings = some.map((id) => ({ account_id: id, owner_id: id, keys_running_out: 1 as const }))
    await db.insertInto('notification_settings').values(settings).execute()
    await db
      .insertInto('notification_scans')
      .values(some.map((owner_id) => ({ owner_id, next_at: now - 1 })))
      .execute()
  }
  const owner = await vendorWanting('keysRunningOut')
  const app = await makeApp(owner)
  await addCount(on, owner, app, { metric: 'activations', n: 5, daysAgo: 1 })
  const mails = (await Promise.all([look(on), look(on)])).flat()
  expect(mails.filter(({ to }) => to === owner.email)).toHaveLength(1)
  const next = await db
    .selectFrom('notification_scans')
    .select((eb) => [eb.fn.min('next_at').as('first'), eb.fn.countAll<number>().as('n')])
    .where('owner_id', 'like', 'own_many_%')
    .executeTakeFirstOrThrow()
  expect(Number(next.n)).toBe(ids.length)
  expect(Number(next.first)).toBeGreaterThan(now)
})

test('a server sends what it finds, and each mail once', async () => {
  const sink = await SmtpSink.start()
  const mail = { SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'http://127.0.0.1:4000/keys' }
  const before = await startServer(mail)
  const owner = await signUp(before)
  await confirmAddress(before, owner)
  await want(owner, 'keysRunningOut')
  const app = await makeApp(owner)
  await addCount(before, owner, app, { metric: 'activations', n: 5, daysAgo: 1 })
  const { databaseUrl } = before.config
  await before.server.close()
  await before.database.close()
  const after = await startServer(
    {
      ...mail,
      DATA_DIR: before.dataDir,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    },
    { remindersAfterMs: 1, deliveriesEveryMs: 100 },
  )
  try {
    await expect.poll(() => textsTo(sink, owner.email).length).toBe(1)
    expect(textsTo(sink, owner.email)[0]?.replace(/=\r?\n/g, '')).toContain('unused keys left')
    expect(await lookAfter(after, hour)).toEqual([])
  } finally {
    await after.close()
    await sink.stop()
  }
})
