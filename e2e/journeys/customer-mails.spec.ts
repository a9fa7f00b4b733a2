import { newShopSecret, paid, signedRequest } from '../../apps/server/test/shop-events.ts'
import { expectStateAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { mailedLink, test, trustMails } from '../mailing.ts'
import { dialog, enter, expectToast, Program, row, Vendor, visit } from '../steps.ts'

test('the page of a customer lists its mails and mails keys again; an end user gets a link to choose a password', {
  tag: '@phone',
}, async ({ page, request, mails, keyward }) => {
  const email = 'mails@buyers.example'
  const vendor = await Vendor.signUp(request)
  trustMails(keyward)
  const app = await vendor.createApp('Tally')
  await vendor.call('PUT', `/apps/${app._id}`, { settings: { customerPage: true } })
  const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, {
    ...{ name: 'Pro', term: 'forever' },
  })
  const secret = newShopSecret()
  const products = [{ product: 'pro', type: licenseType._id }]
  const { shop } = await vendor.call('POST', `/apps/${app._id}/shops`, {
    ...{ kind: 'custom', name: 'My shop', secret, products },
  })
  const { payload, headers } = signedRequest(secret, paid('T-1', { email }), new Date())
  expect((await fetch(`${keyward.url}${shop.hook}`, { method: 'POST', headers, body: payload })).status).toBe(
    200,
  )
  const sent = () => mails.received.filter(({ to }) => to.includes(email)).length
  await expect.poll(sent).toBe(1)
  const { orders } = await vendor.call('GET', '/orders')
  const [order] = orders
  /** The page shows how its mails are when it is opened. */
  const allSent = () =>
    expect
      .poll(async () => {
        const shown = await vendor.call('GET', `/customers/${order.customer}`)
        return shown.mails.map(({ state }: { state: string }) => state)
      })
      .not.toContain('queued')
  const program = await Program.start(request, app)
  await program.register('tally-user', order.licenses[0], 'pc')

  await allSent()
  await enter(page, vendor, `/customers/${order.customer}`)
  const mail = row(page, 'Keys of order T-1')
  await expect(mail).toContainText('Sent')
  await expectStateAccessible(page, 'a customer with a mail')
  await mail.getByRole('button', { name: 'Mail Again: keys of order T-1' }).click()
  await expectToast(page, 'The keys are mailed again')
  await expect.poll(sent).toBe(2)
  await expect(mail).toHaveCount(2)

  const { clients } = await vendor.call('GET', `/customers/${order.customer}`)
  await vendor.call('PATCH', `/clients/${clients[0]._id}`, { customer: order.customer })
  await visit(page, `/users/${clients[0]._id}`)
  await page.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Mail Password Link' }).click()
  await expect(dialog(page, 'Mail Password Link')).toContainText('The link goes to its customer')
  await dialog(page, 'Mail Password Link').getByRole('button', { name: 'Mail Link' }).click()
  await expectToast(page, 'Link Mailed', 'tally-user can choose a password with it for 15 minutes.')
  expect(await mailedLink(mails, email)).toContain(`/u/${app.appId}#`)
  await allSent()
  await visit(page, `/customers/${order.customer}`)
  await expect(row(page, 'Link to the customer page')).toContainText('Sent')
})
