import { textsTo } from '../../apps/server/test/mailed.ts'
import { paid, type SoldEvent, signedRequest } from '../../apps/server/test/shop-events.ts'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { test, trustMails } from '../mailing.ts'
import { addShop } from '../shop.ts'
import { dialog, enter, expectToast, fact, isPhone, openFilters, part, row, Vendor, visit } from '../steps.ts'

test('a sale by hand takes three clicks, and its key is in the mail of the customer', {
  tag: '@phone',
}, async ({ page, request, mails, keyward }) => {
  const vendor = await Vendor.signUp(request)
  trustMails(keyward)
  const app = await vendor.createApp('Tally')
  const types = `/apps/${app._id}/license-types`
  await vendor.call('POST', types, { name: 'Pro', term: 'forever', devices: 3 })
  await vendor.call('POST', types, { name: 'Team', term: 'forever', seats: 5 })
  await vendor.call('POST', '/customers', { email: 'ada@engines.example', name: 'Ada Lovelace' })
  await enter(page, vendor)
  const attention = part(page, 'Needs Attention')
  await expect(attention).toContainText('Nothing waits for you.')

  await page.getByRole('button', { name: 'New Sale' }).click()
  const form = dialog(page, 'New Sale')
  await form.getByLabel('Customer').fill('ada@')
  await expect(form.locator('datalist option')).toHaveAttribute('value', 'ada@engines.example')
  await form.getByLabel('Customer').fill('ada@engines.example')
  await form.getByRole('button', { name: 'Sell and Mail' }).click()
  await expect(form.getByText('Choose what was sold')).toBeVisible()
  await form.getByRole('radio', { name: /^Pro/ }).check()
  await expect(form.getByRole('switch', { name: 'Mail the key' })).toBeChecked()
  await expectAccessible(page, 'a sale by hand')
  await form.getByRole('button', { name: 'Sell and Mail' }).click()
  await expect(dialog(page, 'Sold')).toContainText('The mail with the key is on its way.')
  await expect.poll(() => textsTo(mails, 'ada@engines.example').length).toBe(1)
  const { licenses } = await vendor.call('GET', '/licenses')
  const [license] = licenses
  expect(license.type.name).toBe('Pro')
  expect(textsTo(mails, 'ada@engines.example')[0]).toContain(license.key)
  await dialog(page, 'Sold').getByRole('button', { name: 'Done' }).click()

  await visit(page, `/licenses/${license._id}`)
  await expect(fact(page, 'Mail with the key')).toContainText('Sent', { timeout: 15_000 })
  await fact(page, 'Mail with the key').getByRole('button', { name: 'Mail Again' }).click()
  await expectToast(page, 'The key is mailed')
  await expect.poll(() => textsTo(mails, 'ada@engines.example').length).toBe(2)
  await visit(page, `/customers/${license.customer}`)
  const sent = row(page, `Key ${license.key}`)
  await expect(sent.first()).toContainText('Sent', { timeout: 15_000 })
  await page.getByRole('button', { name: `Mail Again: key ${license.key}` }).click()
  await expectToast(page, 'The keys are mailed again')
  await expect.poll(() => textsTo(mails, 'ada@engines.example').length).toBe(3)
  await page.getByRole('button', { name: 'New Sale' }).click()
  await expect(dialog(page, 'New Sale').getByLabel('Customer')).toHaveValue('ada@engines.example')
})

test.describe('in Nepal', () => {
  // A quarter of an hour beside all others.
  test.use({ timezoneId: 'Asia/Kathmandu' })

  test('Sales shows what was taken and given back, day by day, and each number opens its orders', {
    tag: ['@full', '@phone'],
  }, async ({ page, request, keyward }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp('Tally')
    const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, {
      ...{ name: 'Pro', term: 'forever' },
    })
    const products = ['pro', 'plus'].map((product) => ({ product, type: licenseType._id }))
    const shop = await addShop(vendor, app, products)
    const tell = async (event: SoldEvent) => {
      const { payload, headers } = signedRequest(shop.secret, event, new Date())
      const answer = await fetch(`${keyward.url}${shop.hook}`, { method: 'POST', headers, body: payload })
      expect(answer.status).toBe(200)
    }
    const buy = (order: string, timestamp: string, wanted: object) =>
      tell({ ...paid(order, { currency: 'EUR', ...wanted }), timestamp })
    // 23:50 and 00:05 of the night to the second, in Nepal.
    await buy('N-1', '2026-03-01T18:05:00Z', { amount: 1000 })
    await buy('N-2', '2026-03-01T18:20:00Z', { amount: 2500, lines: [{ product: 'plus', quantity: 1 }] })
    await buy('N-3', '2026-03-10T09:00:00Z', { amount: 700, currency: 'USD' })
    await buy('N-0', '2026-02-10T09:00:00Z', { amount: 400 })
    await tell({
      type: 'order.refunded',
      timestamp: '2026-03-20T09:00:00Z',
      data: { order: 'N-1', amount: 300 },
    })
    await expect.poll(async () => (await vendor.call('GET', '/orders?sale=refunded')).orders.length).toBe(1)

    await enter(page, vendor, '/sales?from=2026-03-01&to=2026-03-31')
    const figures = part(page, 'Figures')
    await expect(figures).toContainText('€35')
    await expect(figures).toContainText('€4 in the days before')
    await expect(page.getByText('Mar 01, 2026 – Mar 31, 2026')).toBeVisible()
    await expect(page.getByText('Compared with Feb 01, 2026 – Feb 28, 2026.')).toBeVisible()
    await expect(row(page, 'plus')).toContainText('€25')
    await expect(row(page, 'Corner Shop')).toContainText('€3')
    await expectStateAccessible(page, 'sales')
    await page.getByRole('group', { name: 'Currency' }).getByText('USD').click()
    await expect(figures).toContainText('$7')
    await expect(figures).not.toContainText('€')
    await page.getByRole('group', { name: 'Currency' }).getByText('EUR').click()

    // The second of March, of 31 days.
    const plot = page.getByRole('slider', { name: /^Revenue and refunds by day/ })
    const { width, height } = (await plot.boundingBox())!
    const position = { x: width / 30, y: height / 2 }
    await (isPhone(page) ? plot.tap({ position }) : plot.click({ position }))
    await expect(page.getByText('Orders of Mar 02, 2026')).toBeVisible()
    await page.goBack()
    await plot.press('Home')
    await plot.press('ArrowRight')
    await plot.press('Enter')
    await expect(page.getByText('Orders of Mar 02, 2026')).toBeVisible()
    await page.goBack()

    await page.getByRole('button', { name: 'Show table' }).click()
    const day = (name: string) => page.getByRole('row', { name })
    await expect(day('Mar 1 €10 €0')).toBeVisible()
    await expect(day('Mar 2 €25 €0')).toBeVisible()
    await expect(day('Mar 3 €0 €0')).toBeVisible()
    await expect(day('Mar 20 €0 €3')).toBeVisible()
    await page.getByRole('button', { name: 'Mar 2', exact: true }).click()
    await expect(page.getByText('Orders of Mar 02, 2026')).toBeVisible()
    await expect(page.getByText('1 order · €25')).toBeVisible()
    await expect(row(page, 'N-2')).toBeVisible()
    await page.goBack()
    await figures.getByRole('link', { name: 'Refunds' }).click()
    await expect(page.getByText('1 order · €0, €3 refunded')).toBeVisible()
    await expect(row(page, 'N-1')).toBeVisible()
    await page.goBack()
    await figures.getByRole('link', { name: 'Revenue: €4 in the days before' }).click()
    await expect(page.getByText('1 order · €4')).toBeVisible()
    await page.goBack()
    // Nothing has no list.
    await expect(figures.getByRole('link', { name: 'Disputes' })).toHaveCount(0)
    await expect(row(page, 'plus')).toContainText('+ 0 renewed')
    await expect(row(page, 'plus').getByRole('link', { name: /renewed|€0/ })).toHaveCount(0)
    // Phones leave out what was refunded.
    const kind = isPhone(page) ? /^Revenue of Corner Shop: €/ : 'Refunds of Corner Shop: €3'
    await row(page, 'Corner Shop').getByRole('link', { name: kind }).click()
    await expect(row(page, 'N-1')).toBeVisible()
    if (!isPhone(page)) {
      await expect(page.getByText('1 order · €0, €3 refunded')).toBeVisible()
      await page.getByRole('button', { name: 'All Orders' }).click()
      await expect(page.getByText('4 orders · €39, €3 refunded · $7')).toBeVisible()
    }
    await page.goBack()

    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    expect((await downloading).suggestedFilename()).toBe('sales-2026-03-01-2026-03-31.csv')
    await openFilters(page)
    await page.getByRole('combobox', { name: 'Days' }).click()
    await page.getByRole('option', { name: 'Last month' }).click()
    await expect(page).toHaveURL(/range=last-month/)
  })
})
