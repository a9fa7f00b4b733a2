import type { ShopKind } from '@keyward/contract'
import { textsTo } from '../../apps/server/test/mailed.ts'
import { newShopOf, protocols, requestOf, toTold } from '../../apps/server/test/shop-protocols.ts'
import { expectAccessible } from '../accessibility.ts'
import { test as base, expect } from '../keyward.ts'
import { trustMails } from '../mailing.ts'
import { choose, dialog, enter, readClipboard, row, unique, Vendor, visit } from '../steps.ts'

const test = base.extend({
  environment: async ({ mails, shopHosts }, use) =>
    use({ SMTP_URL: `smtp://${mails.host}`, ...shopHosts.environment }),
})

interface Words {
  label: string
  secret: string
  apiKey?: string
  event: string
}

const kinds: readonly (readonly [ShopKind, Words])[] = [
  [
    'stripe',
    { label: 'Stripe', secret: 'Signing secret', apiKey: 'Restricted API key', event: 'invoice.paid' },
  ],
  ['paddle', { label: 'Paddle', secret: 'Secret key', apiKey: 'API key', event: 'transaction.completed' }],
  ['lemonsqueezy', { label: 'Lemon Squeezy', secret: 'Signing secret', event: 'order_created' }],
  ['gumroad', { label: 'Gumroad', secret: 'Seller ID', apiKey: 'Access token', event: 'subscription_ended' }],
]

for (const [kind, words] of kinds) {
  test(`a purchase at ${words.label} mails its key, from a shop that was set up in the console`, {
    tag: '@full',
  }, async ({ page, request, mails, shopHosts, keyward }) => {
    const vendor = await Vendor.signUp(request)
    trustMails(keyward)
    const app = await vendor.createApp('Tally')
    await vendor.call('POST', `/apps/${app._id}/license-types`, { name: 'Pro', term: 'forever' })
    const { secret, apiKey } = newShopOf(kind)
    const name = `Shop ${words.label}`
    await enter(page, vendor, `/apps/${app._id}?tab=shops`)

    await test.step('1: what the shop signs with, what reads it back, and its products', async () => {
      await page.getByRole('button', { name: 'Add Shop' }).click()
      const form = dialog(page, 'Add Shop')
      await choose(form, 'Kind', words.label)
      await form.getByLabel('Name', { exact: true }).fill(name)
      if (words.apiKey !== undefined) {
        await form.getByRole('button', { name: 'Continue' }).click()
        await expect(form.getByText('API key is required')).toBeVisible()
        await form.getByLabel(words.apiKey, { exact: true }).fill(apiKey ?? '')
      }
      await form.getByLabel(words.secret, { exact: true }).fill(secret)
      await form.getByLabel('Product', { exact: true }).fill('pro')
      await choose(form, 'License type', 'Pro')
      await expectAccessible(page, `a new shop of ${kind}`)
      await form.getByRole('button', { name: 'Continue' }).click()
    })

    const hook = await test.step('2: the address, and the events to select', async () => {
      const connect = dialog(page, `Connect ${name}`)
      await expect(connect.getByRole('list', { name: 'Events' })).toContainText(words.event)
      await expect(connect).not.toContainText(secret)
      await connect.getByRole('button', { name: 'Copy address' }).click()
      await expectAccessible(page, `the address of ${kind}`)
      const copied = await readClipboard(page)
      await connect.getByRole('button', { name: 'Continue' }).click()
      return copied
    })

    const email = `${unique('buyer')}@example.com`
    const order = unique('order')
    const key = await test.step('3: the shop sends a purchase in its own protocol', async () => {
      const first = dialog(page, `Test ${name}`)
      await expect(first.getByText('Waiting for an order…')).toBeVisible()
      const lines = [{ product: 'pro', quantity: 1 }]
      const data = { order, email, amount: 1000, currency: 'USD', lines }
      const said = protocols[kind].say(
        toTold({ type: 'order.paid', data }, new Date()),
        shopHosts.hosts[kind],
      )
      const { payload, headers } = requestOf(kind, said, secret, new Date())
      const send = async () => (await request.post(hook, { data: payload, headers })).status()
      expect(await send()).toBe(200)
      await expect(first.getByText(`Order ${order}`)).toBeVisible()
      await expect(first.getByText('Fulfilled')).toBeVisible()
      const keys = first.getByRole('list', { name: 'Keys' }).getByRole('listitem')
      await expect(keys).toHaveCount(1)
      // The shop sends it again.
      expect(await send()).toBe(200)
      await first.getByRole('button', { name: 'Done' }).click()
      const { orders } = await vendor.call('GET', `/orders?search=${order}`)
      expect(orders).toHaveLength(1)
      expect(orders[0].licenses).toHaveLength(1)
      return orders[0].licenses[0].key as string
    })

    await expect.poll(() => textsTo(mails, email).length).toBe(1)
    expect(textsTo(mails, email)[0]).toContain(key)
    await visit(page, '/orders')
    await expect(row(page, order)).toContainText('$10')
    await expect(row(page, order)).toContainText('Mailed')
  })
}

test('a shop shows the events that wait while it is off', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const wanted = newShopOf('lemonsqueezy')
  const { shop } = await vendor.call('POST', `/apps/${app._id}/shops`, wanted)
  await vendor.call('PUT', `/shops/${shop._id}`, { active: false })
  const data = { order: '1', email: 'ada@example.com', lines: [{ product: 'pro', quantity: 1 }] }
  const event = toTold({ type: 'order.paid', data }, new Date())
  const said = protocols.lemonsqueezy.say(event, { objects: new Map() } as never)
  const sent = requestOf('lemonsqueezy', said, wanted.secret, new Date())
  expect((await request.post(shop.hook, { data: sent.payload, headers: sent.headers })).status()).toBe(200)
  await enter(page, vendor, `/apps/${app._id}?tab=shops`)
  await expect(row(page, wanted.name)).toContainText('1 event')
  await expectAccessible(page, 'a shop with waiting events')
})
