// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { beforeEach, describe, expect, test } from 'vitest'
import { day, hour, minute, second } from '../../src/core/clock.ts'
import type { Mail } from '../../src/modules/mail/mail.service.ts'
import { quoted } from '../../src/modules/notifications/notifications.text.ts'
import { queueRefusals } from '../../src/modules/webhooks/webhooks.refusals.ts'
import { giveUpAll } from '../../src/modules/webhooks/webhooks.service.ts'
import { readWebhookQueue } from '../../src/modules/webhooks/webhooks.status.ts'
import { activateKey, makeApp, makeLicenses, type Owner, refusal, signUp, wrongFields } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { eventually } from '../eventually.ts'
import { appForAll, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { ctxOf } from '../harness.ts'
import { addMember } from '../member-actor.ts'
import { confirmAddress } from '../notified.ts'
import { makeWebhook, unreachable } from '../webhook-actor.ts'
import { type Received, receiverForAll } from '../webhook-receiver.ts'

const mails: Mail[] = []
const mailer = { send: async (mail: Mail) => void mails.push(mail), close: () => {} }
const on = serverForAll({}, { mailer, deliveriesEveryMs: 100 })
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
const receiver = receiverForAll()
beforeEach(async () => {
  receiver.status = 200
  await confirm()
  for (const { _id } of await list()) await owner.call('DELETE', `/webhooks/${_id}`)
  receiver.received.length = 0
})

type Caller = Pick<Owner, 'call'>
const list = async (caller: Caller = owner) => (await caller.call('GET', '/webhooks')).json.data.webhooks
const make = (wanted: object = {}, caller: Caller = owner) =>
  makeWebhook(caller, { url: receiver.url, events: ['*'], ...wanted })
/** The clock has moved on since the owner signed in. */
const confirm = () => owner.call('POST', '/auth/confirm', { password: owner.password })
const logOf = async (id: string, query = '') =>
  (await owner.call('GET', `/webhooks/${id}/deliveries${query}`)).json.data.deliveries
const ban = async (license: { _id: string }) =>
  expect((await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`, {})).status).toBe(200)
const oneLicense = async (of = app) => (await makeLicenses(on, owner, of))[0]!
const arrival = (type: string, count = 1): Promise<Received[]> =>
  eventually(() => {
    const found = receiver.received.filter(({ body }) => body.type === type)
    expect(found.length).toBeGreaterThanOrEqual(count)
    return found
  })
const outcome = (id: string, expected: object) =>
  eventually(async () => expect((await logOf(id))[0]).toMatchObject(expected))

describe('a webhook', () => {
  test('shows its secret once, and neither secret nor address are stored or recorded as they are', async () => {
    const { secret, ...webhook } = await make({
      apps: [app.appId],
      events: ['license.banned', 'license.banned'],
    })
    expect(secret).toMatch(/^whsec_/)
    expect(webhook).toEqual({
      _id: expect.stringMatching(/^whk_/),
      url: receiver.url,
      events: ['license.banned'],
      apps: [app._id],
      format: 'standard',
      active: true,
      pauseReason: null,
      failingSince: null,
      createdAt: on.clock.inDays(0),
    })
    expect(await list()).toEqual([webhook])
    const { db } = on.database
    const stored = [
      await db.selectFrom('webhooks').selectAll().where('id', '=', webhook._id).execute(),
      await db.selectFrom('audit').selectAll().where('target_id', '=', webhook._id).execute(),
    ]
    for (const hidden of [secret, 'token-0123456789abcdef'])
      expect(JSON.stringify(stored)).not.toContain(hidden)
  })

  test('in Discord’s format has no secret, and none to rotate', async () => {
    const { _id, secret } = await make({ format: 'discord', url: 'https://discord.com/api/webhooks/1/token' })
    expect(secret).toBeUndefined()
    expect(refusal(await owner.call('POST', `/webhooks/${_id}/rotate-secret`))).toBe('webhook_unsigned')
  })

  test.each([
    ['ftp://example.com/', 'url'],
    ['http://10.0.0.1/', 'url'],
    ['https://example.com:22/', 'url'],
    ['not an address', 'url'],
  ])('refuses the address %s', async (url, path) => {
    const answer = await owner.call('POST', '/webhooks', { url, events: ['*'] })
    expect(wrongFields(answer)).toEqual([path])
    const { _id } = await make()
    expect(wrongFields(await owner.call('PUT', `/webhooks/${_id}`, { url }))).toEqual([path])
  })

  test('refuses events that do not exist or are never delivered', async () => {
    for (const event of ['license.sold', 'end_user.signed_in', 'licenses.slice_deleted', 'webhook.test']) {
      const answer = await owner.call('POST', '/webhooks', { url: unreachable, events: [event] })
      expect(answer.status).toBe(400)
    }
  })

  test('is one of at most 20, also under concurrent calls', async () => {
    const vendor = await signUp(on)
    const body = { url: unreachable, events: ['license.banned'] }
    const answers = await Promise.all(
      Array.from({ length: limits.webhooksMax + 8 }, () => vendor.call('POST', '/webhooks', body)),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(limits.webhooksMax)
    expect(answers.filter((answer) => answer.status !== 201).map(refusal)).toEqual(
      Array(8).fill('webhooks_full'),
    )
    await vendor.call('DELETE', `/webhooks/${(await list(vendor))[0]._id}`)
    expect((await vendor.call('POST', '/webhooks', body)).status).toBe(201)
  })
})

describe('members and API keys', () => {
  test('without secrets:read see the origin of an address', async () => {
    await make()
    const viewer = await addMember(on, owner, { role: 'viewer' })
    expect((await list(viewer))[0].url).toBe(new URL(receiver.url).origin)
    expect((await list())[0].url).toBe(receiver.url)
  })

  test('with some apps see and make only webhooks of these apps', async () => {
    const other = await makeApp(owner, 'Other')
    const manager = await addMember(on, owner, { role: 'manager', apps: [app._id] })
    const hidden = [
      await make(),
      await make({ apps: [other._id] }),
      await make({ apps: [app._id, other._id] }),
    ]
    const mine = await make({ apps: undefined }, manager)
    expect(mine.apps).toEqual([app._id])
    expect((await list(manager)).map(({ _id }: { _id: string }) => _id)).toEqual([mine._id])
    for (const { _id } of hidden) {
      expect(refusal(await manager.call('PUT', `/webhooks/${_id}`, { active: false }))).toBe('not_found')
      expect(refusal(await manager.call('GET', `/webhooks/${_id}/deliveries`))).toBe('not_found')
    }
    const wanted = { url: unreachable, events: ['*'], apps: [other._id] }
    expect(refusal(await manager.call('POST', '/webhooks', wanted))).toBe('not_found')
    expect(
      (await manager.call('PUT', `/webhooks/${mine._id}`, { apps: null })).json.data.webhook.apps,
    ).toEqual([app._id])
  })

  test('do not see what was sent of events that they may not read', async () => {
    const { _id } = await make()
    await ban(await oneLicense())
    await arrival('license.banned')
    const key = await makeApiKey(on, owner, { permissions: ['webhooks:read'] })
    const { _id: event } = (await logOf(_id)).find(
      ({ event }: { event: string }) => event === 'license.banned',
    )
    const path = `/webhooks/${_id}/deliveries/${event}`
    await eventually(async () =>
      expect((await owner.call('GET', path)).json.data.delivery.request).toContain('license.banned'),
    )
    expect((await key.call('GET', path)).json.data.delivery).toMatchObject({
      event: 'license.banned',
      request: null,
      response: null,
    })
  })
})

describe('events', () => {
  test('reach the webhooks that want them, signed, and with the id of their record', async () => {
    const other = await makeApp(owner, 'Other')
    const all = await make()
    await make({ events: ['license.unbanned'] })
    await make({ apps: [other._id] })
    const license = await oneLicense()
    await ban(license)
    const [request] = await arrival('license.banned')
    expect(receiver.isSigned(request!, all.secret)).toBe(true)
    expect(request!.body).toMatchObject({
      type: 'license.banned',
      timestamp: on.clock.inDays(0),
      data: { subject: { _id: license._id }, object: { _id: license._id, banned: true } },
    })
    await outcome(all._id, {
      event: 'license.banned',
      state: 'delivered',
      attempts: 1,
      status: 200,
      nextAt: null,
    })
    const record = await on.database.db
      .selectFrom('audit')
      .select('action')
      .where('id', '=', request!.id)
      .execute()
    expect(record).toEqual([{ action: 'license.banned' }])
    const { delivery } = (await owner.call('GET', `/webhooks/${all._id}/deliveries/${request!.id}`)).json.data
    expect(delivery.response).toContain('received')
    expect(JSON.stringify(delivery)).not.toContain('token-0123456789abcdef')
    expect(receiver.received.filter(({ body }) => body.type === 'license.banned')).toHaveLength(1)
  })

  test('of one subject wait for an earlier one that fails, those of others do not', async () => {
    const { _id } = await make({ events: ['license.banned', 'license.unbanned'] })
    const [first, second] = [await oneLicense(), await oneLicense()]
    receiver.status = 500
    await ban(first)
    await outcome(_id, { event: 'license.banned', state: 'failed', attempts: 1, status: 500 })
    expect((await list())[0].failingSince).toBe(on.clock.inDays(0))
    receiver.status = 200
    receiver.received.length = 0
    await ban(first)
    await ban(second)
    on.clock.advance(2000)
    await arrival('license.banned')
    expect(receiver.received.map(({ body }) => body.data.subject._id)).toEqual([second._id])
    on.clock.advance(20_000)
    await arrival('license.unbanned')
    expect(receiver.received.map(({ body }) => [body.type, body.data.subject._id])).toEqual([
      ['license.banned', second._id],
      ['license.banned', first._id],
      ['license.unbanned', first._id],
    ])
    expect((await list())[0].failingSince).toBeNull()
  })

  test('that are sent again on request follow one another without a pause, too', async () => {
    const { _id } = await make({ events: ['license.banned', 'license.unbanned'] })
    const license = await oneLicense()
    await ban(license)
    await outcome(_id, { event: 'license.banned', state: 'delivered' })
    await ban(license)
    await outcome(_id, { event: 'license.unbanned', state: 'delivered' })
    const [later, earlier] = await logOf(_id)
    const retry = ({ _id: delivery }: { _id: string }) =>
      owner.call('POST', `/webhooks/${_id}/deliveries/${delivery}/retry`)
    receiver.status = 500
    await retry(earlier)
    await eventually(async () =>
      expect((await logOf(_id))[1]).toMatchObject({ state: 'failed', attempts: 2 }),
    )
    await retry(later)
    await eventually(
      async () => {
        // The receiver is asked again after a pause, which begins once the failure is stored.
        on.clock.advance(second)
        const [waiting, failed] = await logOf(_id)
        expect(waiting).toMatchObject({ state: 'waiting', nextAt: failed.nextAt })
      },
      { interval: 200 },
    )
    receiver.status = 200
    await retry(earlier)
    await outcome(_id, { event: 'license.unbanned', state: 'delivered', attempts: 2 })
  })

  test('are sent again with the same bytes and id', async () => {
    const { _id } = await make({ events: ['license.banned'] })
    const license = await oneLicense()
    receiver.status = 503
    await ban(license)
    await outcome(_id, { state: 'failed' })
    await owner.call('PUT', `/licenses/${license._id}`, { note: 'changed since' })
    receiver.status = 200
    on.clock.advance(40_000)
    const [before, after] = await arrival('license.banned', 2)
    expect([after!.id, after!.raw]).toEqual([before!.id, before!.raw])
    await outcome(_id, { state: 'delivered', attempts: 2 })
  })

  test('are not delivered unless the maker may read them at that moment', async () => {
    const member = await addMember(on, owner, { role: 'manager' })
    const { _id } = await make({}, member)
    await owner.call('POST', '/members', { email: 'nobody@example.com', role: 'viewer' })
    await owner.call('PATCH', `/members/${member._id}`, { role: 'support', apps: [app._id] })
    await ban(await oneLicense())
    await arrival('license.banned')
    expect(receiver.received.filter(({ body }) => body.type.startsWith('member.'))).toEqual([])
    expect((await logOf(_id)).map(({ event }: { event: string }) => event)).not.toContain('member.invited')
  })

  test('are not delivered once the maker is gone: the webhook is paused, until someone else saves it', async () => {
    const key = await makeApiKey(on, owner, {
      permissions: ['webhooks:write', 'secrets:read', 'licenses:read'],
    })
    const { webhook } = (
      await key.call('POST', '/webhooks', { url: receiver.url, events: ['license.banned'] })
    ).json.data
    await owner.call('DELETE', `/api-keys/${key.id}`)
    await ban(await oneLicense())
    await eventually(async () => expect((await list())[0].active).toBe(false))
    await outcome(webhook._id, { event: 'license.banned', state: 'given_up', attempts: 1 })
    expect(receiver.received).toEqual([])
    const path = `/webhooks/${webhook._id}/deliveries/${(await logOf(webhook._id))[0]._id}/retry`
    expect(refusal(await owner.call('POST', path))).toBe('webhook_paused')
    await owner.call('PUT', `/webhooks/${webhook._id}`, { active: true })
    expect((await owner.call('POST', path)).json.data.delivery.state).toBe('waiting')
    await arrival('license.banned')
  })

  test('are not delivered once the API key that made the webhook has expired', async () => {
    const permissions = ['webhooks:write', 'secrets:read', 'licenses:read']
    const key = await makeApiKey(on, owner, { permissions })
    const body = { url: receiver.url, events: ['license.banned'] }
    const { webhook } = (await key.call('POST', '/webhooks', body)).json.data
    const keys = on.database.db.updateTable('api_keys')
    await keys.set({ expires_at: on.clock.now() }).where('id', '=', key.id).execute()
    await ban(await oneLicense())
    await eventually(async () =>
      expect((await list())[0]).toMatchObject({ active: false, pauseReason: 'maker_gone' }),
    )
    await outcome(webhook._id, { event: 'license.banned', state: 'given_up', attempts: 1 })
    expect(receiver.received).toEqual([])
  })

  test('of a weaker actor who saves a webhook are no more than it may read', async () => {
    const { _id } = await make()
    const key = await makeApiKey(on, owner, { permissions: ['webhooks:write'] })
    expect((await key.call('PUT', `/webhooks/${_id}`, { url: receiver.url })).status).toBe(200)
    await ban(await oneLicense())
    expect((await key.call('POST', `/webhooks/${_id}/test`)).status).toBe(200)
    await arrival('webhook.test')
    expect(receiver.received.map(({ body }) => body.type)).not.toContain('license.banned')
  })

  test('of refusals come once a minute for an end user and a code', async () => {
    await make({ events: ['program.refused'] })
    const { program, license } = await activateKey(on, owner, app, 'pc-1')
    await ban(license)
    const refuse = async () =>
      expect(
        (await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })).json.success,
      ).toBe(false)
    await refuse()
    const [first] = await arrival('program.refused')
    expect(first!.body.data).toMatchObject({
      actor: { kind: 'program' },
      subject: { kind: 'end_user' },
      detail: { code: 'keyBanned', call: expect.any(String), reference: expect.any(String) },
    })
    on.clock.advance(59_000)
    await refuse()
    on.clock.advance(2000)
    await refuse()
    await arrival('program.refused', 2)
    const [{ _id }] = await list()
    expect(await logOf(_id)).toHaveLength(2)
  })

  test('of refusals that several nodes note come once a minute, too', async () => {
    const { _id } = await make({ events: ['program.refused'], url: unreachable })
    const { user } = await activateKey(on, owner, app, 'pc-1')
    const note = (code: string, afterMs: number) => {
      const at = on.clock.now() + afterMs
      const row = { owner_id: owner.id, app_id: app._id, client_id: user._id, kind: 'refused', code }
      const rest = {
        call: 'license',
        subject: null,
        address: null,
        detail: null,
        times: 1,
      }
      const refusal = {
        ...row,
        ...rest,
        share: 'refusals',
        reference: 'R',
        created_at: at,
        last_at: at,
      } as const
      return on.database.db.transaction().execute((tx) => queueRefusals(tx, [refusal]))
    }
    await Promise.all([
      note('keyBanned', 0),
      note('keyBanned', 0),
      note('keyBanned', 1),
      note('userBanned', 0),
    ])
    await note('keyBanned', minute - 1)
    expect(await logOf(_id)).toHaveLength(2)
    await note('keyBanned', minute + 1)
    expect(await logOf(_id)).toHaveLength(3)
  })

  test('are not given up by a pause that has ended meanwhile', async () => {
    const { _id } = await make({ events: ['license.banned'] })
    receiver.status = 500
    await ban(await oneLicense())
    await outcome(_id, { state: 'failed' })
    await giveUpAll(ctxOf(on), _id)
    expect((await logOf(_id))[0].state).toBe('failed')
    await owner.call('PUT', `/webhooks/${_id}`, { active: false })
    expect((await logOf(_id))[0].state).toBe('given_up')
  })

  test('stop with the app that a webhook was for', async () => {
    const gone = await makeApp(owner, 'Gone')
    const [only, both] = [await make({ apps: [gone._id] }), await make({ apps: [gone._id, app._id] })]
    await owner.call('DELETE', `/apps/${gone._id}`)
    const left = await list()
    expect(left.map(({ _id, apps }: { _id: string; apps: string[] }) => [_id, apps])).toEqual([
      [both._id, [app._id]],
    ])
    await tidyUp(on)
    const { db } = on.database
    expect(await db.selectFrom('webhooks').select('id').where('id', '=', only._id).execute()).toEqual([])
    const log = db.selectFrom('webhook_deliveries').select('seq').where('webhook_id', '=', only._id)
    expect(await log.execute()).toEqual([])
  })
})

describe('a receiver that fails', () => {
  test('gets no event that cannot be made, which fails like one that did not arrive', async () => {
    const { _id } = await make({ events: ['license.banned'] })
    receiver.status = 500
    await ban(await oneLicense())
    await outcome(_id, { event: 'license.banned', state: 'failed' })
    const own = on.database.db.updateTable('webhook_deliveries').where('webhook_id', '=', _id)
    await own.set({ detail: '{', body: null }).execute()
    on.clock.advance(hour)
    await outcome(_id, { state: 'failed', attempts: 2, status: null })
    expect(receiver.received).toHaveLength(1)
  })

  test('gets a test at once, also while another event of its webhook waits', async () => {
    const { _id } = await make({ events: ['webhook.updated'] })
    receiver.status = 500
    await owner.call('PUT', `/webhooks/${_id}`, { events: ['webhook.updated', 'license.banned'] })
    await outcome(_id, { event: 'webhook.updated', state: 'failed' })
    await owner.call('POST', `/webhooks/${_id}/test`)
    on.clock.advance(second)
    await outcome(_id, { event: 'webhook.test', state: 'failed' })
  })

  test('is in what the operator sees of the queue, and so is what was given up', async () => {
    const { _id } = await make({ events: ['license.banned'] })
    const queue = () => readWebhookQueue(on.database.db, on.clock.now())
    const before = await queue()
    receiver.status = 500
    await ban(await oneLicense())
    await outcome(_id, { event: 'license.banned', state: 'failed', attempts: 1 })
    const during = await queue()
    expect(during).toMatchObject({ waiting: before.waiting + 1, failing: before.failing + 1 })
    expect(during.waitingSince).not.toBeNull()
    await owner.call('PUT', `/webhooks/${_id}`, { active: false })
    expect(await queue()).toEqual({ ...before, failedLastDay: before.failedLastDay + 1 })
    on.clock.advance(day)
    expect(await queue()).toMatchObject({ failedLastDay: 0 })
  })

  test('for three days pauses its webhook, records that, and what waits is given up', async () => {
    await confirmAddress(on, owner)
    const { _id } = await make({ events: ['license.banned', 'license.unbanned'] })
    const license = await oneLicense()
    receiver.status = 500
    await ban(license)
    await ban(license)
    await outcome(_id, { event: 'license.unbanned', state: 'waiting' })
    await eventually(
      async () => {
        on.clock.advance(hour)
        expect((await list())[0].active).toBe(false)
      },
      { interval: 20 },
    )
    await eventually(async () =>
      expect((await logOf(_id)).map(({ state }: { state: string }) => state)).toEqual([
        'given_up',
        'given_up',
      ]),
    )
    const paused = on.database.db.selectFrom('audit').selectAll().where('action', '=', 'webhook.paused')
    expect(await paused.where('target_id', '=', _id).executeTakeFirst()).toMatchObject({
      owner_id: owner.id,
      actor_kind: 'system',
      detail: '{"reason":"failing"}',
    })
    const { records } = (await owner.call('GET', `/audit?action=webhook.paused&subject=${_id}`)).json.data
    expect(records).toMatchObject([{ subject: { _id, name: new URL(receiver.url).origin } }])
    await eventually(() =>
      expect(mails).toContainEqual(
        expect.objectContaining({
          to: owner.email,
          text: expect.stringContaining(`events to ${quoted(new URL(receiver.url).origin)}.\n`),
        }),
      ),
    )
    await ban(license)
    expect(await logOf(_id)).toHaveLength(2)
    receiver.status = 200
    await owner.call('PUT', `/webhooks/${_id}`, { active: true })
    expect((await list())[0]).toMatchObject({ active: true, failingSince: null })
    await ban(license)
    // It failed lately, so that this process asks it again after a short pause.
    on.clock.advance(minute)
    await outcome(_id, { state: 'delivered' })
  })
})

describe('a secret', () => {
  test('that was rotated signs beside the new one for 24 hours', async () => {
    const { _id, secret: before } = await make({ events: ['license.banned'] })
    const { secret } = (await owner.call('POST', `/webhooks/${_id}/rotate-secret`)).json.data
    const signed = async () => {
      receiver.received.length = 0
      await owner.call('POST', `/webhooks/${_id}/test`)
      const [request] = await arrival('webhook.test')
      return [secret, before].map((one) => receiver.isSigned(request!, one))
    }
    expect(await signed()).toEqual([true, true])
    on.clock.advance(24 * hour)
    expect(await signed()).toEqual([true, false])
  })
})

describe('the log', () => {
  test('sends a delivery again on request, pages, filters, and is kept for 30 days', async () => {
    const { _id } = await make({ events: ['license.banned'] })
    const { delivery } = (await owner.call('POST', `/webhooks/${_id}/test`)).json.data
    expect(delivery).toMatchObject({ event: 'webhook.test', state: 'waiting', attempts: 0 })
    await outcome(_id, { state: 'delivered' })
    await owner.call('POST', `/webhooks/${_id}/deliveries/${delivery._id}/retry`)
    const [first, second] = await arrival('webhook.test', 2)
    expect(second!.id).toBe(first!.id)
    await outcome(_id, { state: 'delivered', attempts: 2 })
    expect(await logOf(_id, '?state=failed')).toEqual([])
    expect(await logOf(_id, '?state=delivered&limit=1')).toHaveLength(1)
    on.clock.advance(limits.deliveryDays * day + 1)
    await tidyUp(on)
    const kept = on.database.db.selectFrom('webhook_deliveries').select('seq').where('webhook_id', '=', _id)
    expect(await kept.execute()).toEqual([])
  })
})
