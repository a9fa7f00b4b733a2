import { textsTo } from '../../apps/server/test/mailed.ts'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { test as mailing, trustMails } from '../mailing.ts'
import { addShop, sell } from '../shop.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  heading,
  keyPrefix,
  navigate,
  openFilters,
  openPalette,
  part,
  readClipboard,
  row,
  rowAction,
  Vendor,
  visit,
} from '../steps.ts'

test('a first shop is set up in three steps, and an order that it signs brings a key', {
  tag: '@phone',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await vendor.call('POST', `/apps/${app._id}/license-types`, { name: 'Pro', term: 'forever' })
  await enter(page, vendor, `/apps/${app._id}?tab=shops`)
  await expect(page.getByText('No shops yet')).toBeVisible()
  await expectStateAccessible(page, 'no shops')

  const secret = await test.step('1: its secret and its products', async () => {
    await page.getByRole('button', { name: 'Add Shop' }).click()
    const form = dialog(page, 'Add Shop')
    await form.getByRole('button', { name: 'Continue' }).click()
    await expect(form.getByText('Name is required')).toBeVisible()
    await expect(form.getByText('Product is required')).toBeVisible()
    await expect(form.getByText('Choose a license type')).toBeVisible()
    await form.getByLabel('Name', { exact: true }).fill('Corner Shop')
    await form.getByLabel('Product', { exact: true }).fill('pro-yearly')
    await choose(form, 'License type', 'Pro')
    await expectAccessible(page, 'a new shop')
    await form.getByRole('button', { name: 'Copy Secret' }).click()
    const copied = await readClipboard(page)
    expect(copied).toMatch(/^whsec_[\w+/]{43}=$/)
    await form.getByRole('button', { name: 'Continue' }).click()
    return copied
  })

  const hook = await test.step('2: the address of its hook', async () => {
    const connect = dialog(page, 'Connect Corner Shop')
    await connect.getByRole('button', { name: 'Copy address' }).click()
    const copied = await readClipboard(page)
    expect(copied).toMatch(/^http:\/\/[^/]+\/api\/hooks\/shp_\w+$/)
    await expectAccessible(page, 'the address of a shop')
    await connect.getByRole('button', { name: 'Continue' }).click()
    return copied
  })

  await test.step('3: the first orders arrive while one watches', async () => {
    const first = dialog(page, 'Test Corner Shop')
    await expect(first.getByText('Waiting for an order…')).toBeVisible()
    await sell(request, { hook, secret }, { order: 'A-1', product: 'pro-yearly' })
    await expect(first.getByText('Order A-1')).toBeVisible()
    await expect(first.getByText('Fulfilled')).toBeVisible()
    await expect(first.getByRole('list', { name: 'Keys' }).getByRole('listitem')).toHaveCount(1)
    await expectStateAccessible(page, 'a first order')
    await first.getByRole('button', { name: 'Send Test Order' }).click()
    await expect(first.getByText(/^Order test-/)).toBeVisible()
    await expect(first.getByText('Test', { exact: true })).toBeVisible()
    await first.getByRole('button', { name: 'Done' }).click()
  })

  await test.step('the tab shows the shop, and the license its order', async () => {
    await expect(row(page, 'Corner Shop')).toContainText('On')
    await expect(row(page, 'Corner Shop')).toContainText('No orders')
    await expectStateAccessible(page, 'a list of shops')
    const { orders } = await vendor.call('GET', '/orders?search=A-1')
    const [license] = orders[0].licenses
    await visit(page, `/licenses/${license._id}`)
    await part(page, 'Order').getByRole('link', { name: 'A-1' }).click()
    const open = dialog(page, 'Order A-1')
    await expect(open.getByText('buyer@example.com').first()).toBeVisible()
    await expectStateAccessible(page, 'an order')
    await open.getByRole('link', { name: license.key }).click()
    await expect(heading(page, keyPrefix(license.key))).toBeVisible()
  })

  await test.step('the search finds the order and its license by its number, and the license by the buyer', async () => {
    await openPalette(page)
    await page.keyboard.type('A-1')
    await expect(page.getByRole('option', { name: /Order: A-1/ })).toBeVisible()
    await page.getByRole('option', { name: /^A-1/ }).click()
    await expect(dialog(page, 'Order A-1')).toBeVisible()
    await visit(page, '/licenses?search=buyer%40')
    await expect(row(page, 'Customer: buyer@example.com')).toBeVisible()
  })

  await test.step('the license of the test order says so, and whether the app stops it', async () => {
    const { licenses } = await vendor.call('GET', '/licenses')
    const { _id, key } = licenses.find((license: { test: boolean }) => license.test)
    await visit(page, '/licenses')
    await expect(row(page, keyPrefix(key))).toContainText('Test')
    await openPalette(page)
    await page.keyboard.type(key)
    await expect(page.getByRole('option', { name: key })).toContainText('Test')
    await page.keyboard.press('Escape')
    await visit(page, `/licenses/${_id}`)
    await expect(page.getByText('Test', { exact: true })).toBeVisible()
    await visit(page, `/apps/${app._id}?tab=settings`)
    await page.getByText('Test Orders', { exact: true }).click()
    await page.getByRole('switch', { name: 'Licenses of Test Orders Work' }).click()
    await expectToast(page, 'App settings updated successfully')
    await visit(page, `/licenses/${_id}`)
    await expect(page.getByText('Test: stopped', { exact: true })).toBeVisible()
    await expectStateAccessible(page, 'the license of a test order')
  })
})

test('a waiting order says why, and is retried after its product was mapped', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const shop = await addShop(vendor, app)
  const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, {
    name: 'Pro',
    term: 'forever',
  })
  await sell(request, shop, { order: 'B-7', product: 'pro', amount: 1999, currency: 'USD' })
  await sell(request, shop, { order: 'B-8', product: 'team', email: 'other@example.com' })
  await enter(page, vendor)
  await navigate(page, 'Orders')
  await expect(heading(page, 'Orders')).toBeVisible()
  await expect(row(page, 'B-7')).toContainText('Waiting')
  await expect(row(page, 'B-7')).toContainText('pro')
  await expect(row(page, 'B-7')).toContainText('$19.99')
  await expectAccessible(page, 'waiting orders')

  await test.step('a retry says that it still waits', async () => {
    await page.getByRole('button', { name: 'Retry order B-8' }).click()
    const toast = page.locator('[data-sonner-toast]').filter({ hasText: 'The order still waits' })
    await expect(toast).toContainText('team')
    await expectToast(page, 'The order still waits')
  })

  await test.step('filters and search are in the address', async () => {
    await openFilters(page)
    await choose(page, 'State', 'Fulfilled')
    await expect(page).toHaveURL('/orders?state=fulfilled')
    await expect(page.getByText('No orders found')).toBeVisible()
    await page.getByRole('button', { name: 'Clear Filters' }).click()
    await page.getByRole('searchbox', { name: 'Search orders' }).fill('other@')
    await expect(page).toHaveURL('/orders?search=other%40')
    await expect(row(page, 'B-8')).toBeVisible()
    await expect(row(page, 'B-7')).toHaveCount(0)
  })

  await test.step('mapping the product picks up its order', async () => {
    await visit(page, `/apps/${app._id}?tab=shops`)
    await expect(page.getByRole('link', { name: /^2 orders/ })).toBeVisible()
    await rowAction(page, 'Corner Shop', 'Edit')
    const form = dialog(page, 'Edit Corner Shop')
    await form.getByRole('button', { name: 'Add Product' }).click()
    await form.getByLabel('Product', { exact: true }).fill('pro')
    await choose(form, 'License type', 'Pro')
    await form.getByRole('button', { name: 'Save' }).click()
    await expectToast(page, 'Shop saved')
    await page.getByRole('link', { name: /^1 order/ }).click()
    await expect(page).toHaveURL(/\/orders\?app=\w+&shop=\w+&state=waiting/)
    await expect(row(page, 'B-8')).toBeVisible()
    await expect(row(page, 'B-7')).toHaveCount(0)
  })

  await test.step('retrying after a type was mapped elsewhere creates the license', async () => {
    await visit(page, '/orders')
    await expect(row(page, 'B-7')).toContainText('Fulfilled')
    await vendor.call('PUT', `/shops/${shop._id}`, { active: false })
    await vendor.call('PUT', `/shops/${shop._id}`, {
      products: [
        { product: 'pro', type: licenseType._id },
        { product: 'team', type: licenseType._id },
      ],
    })
    await row(page, 'B-8').getByRole('button', { name: 'B-8', exact: true }).click()
    const open = dialog(page, 'Order B-8')
    await expect(open.getByText('This order waits')).toBeVisible()
    await expectAccessible(page, 'a waiting order')
    await open.getByRole('button', { name: 'Retry' }).click()
    await expectToast(page, 'The order waits no longer')
    await expect(open.getByText('Fulfilled')).toBeVisible()
    await expect(open.getByRole('region', { name: 'Licenses' }).getByRole('link')).toHaveCount(1)
  })
})

test('a shop gets a new secret, is turned off and on, and is deleted', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await addShop(vendor, app)
  await enter(page, vendor, `/apps/${app._id}?tab=shops`)
  await rowAction(page, 'Corner Shop', 'Replace Secret')
  const replace = dialog(page, 'Replace the secret of Corner Shop')
  await replace.getByRole('button', { name: 'Replace' }).click()
  await expect(replace.getByText('Enter what you want to replace')).toBeVisible()
  await replace.getByLabel('New signing secret').fill('nonsense')
  await replace.getByRole('button', { name: 'Replace' }).click()
  await expect(replace.getByText('A secret is whsec_ and 24 to 64 bytes in Base64')).toBeVisible()
  await expectAccessible(page, 'a new secret of a shop')
  await replace.getByLabel('New signing secret').fill(`whsec_${btoa('x'.repeat(32))}`)
  await replace.getByRole('button', { name: 'Replace' }).click()
  await expectToast(page, 'Secret replaced')

  await rowAction(page, 'Corner Shop', 'Turn Off')
  await dialog(page, 'Turn off Corner Shop?').getByRole('button', { name: 'Turn Off' }).click()
  await expectToast(page, 'Shop turned off')
  await expect(row(page, 'Corner Shop')).toContainText('Off')
  await rowAction(page, 'Corner Shop', 'Turn On')
  await expectToast(page, 'Shop turned on')
  await expect(row(page, 'Corner Shop')).toContainText('On')

  await rowAction(page, 'Corner Shop', 'Delete')
  const confirm = dialog(page, 'Delete Corner Shop?')
  await expectAccessible(page, 'deleting a shop')
  await confirm.getByRole('button', { name: 'Delete Shop' }).click()
  await expectToast(page, 'Shop deleted')
  await expect(page.getByText('No shops yet')).toBeVisible()
})

mailing(
  'an order says that its keys were mailed, and mails them again',
  { tag: '@full' },
  async ({ page, request, mails, keyward }) => {
    const vendor = await Vendor.signUp(request)
    trustMails(keyward)
    const app = await vendor.createApp()
    const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, {
      name: 'Pro',
      term: 'forever',
    })
    const shop = await addShop(vendor, app, [{ product: 'pro', type: licenseType._id }])
    const email = `${shop._id.toLowerCase()}@example.com`
    await sell(request, shop, { order: 'C-3', product: 'pro', email })
    await enter(page, vendor, '/orders')
    await expect(row(page, 'C-3')).toContainText('Mailed')
    await row(page, 'C-3').getByRole('button', { name: 'C-3', exact: true }).click()
    const open = dialog(page, 'Order C-3')
    await expect(open.getByText('Sent', { exact: true })).toBeVisible()
    await expectAccessible(page, 'a mailed order')
    await open.getByRole('button', { name: 'Mail Keys Again' }).click()
    await expectToast(page, 'The keys are mailed again')
    await expect.poll(() => textsTo(mails, email).length).toBe(2)
    const { orders } = await vendor.call('GET', '/orders?search=C-3')
    for (const text of textsTo(mails, email)) expect(text).toContain(orders[0].licenses[0].key)
  },
)
