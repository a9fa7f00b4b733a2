import { expect, test } from '../keyward.ts'
import { createReseller, enterPortal, premiumVendor, Seller } from '../reseller.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  keyPrefix,
  Program,
  part,
  row,
  rowAction,
  rows,
  Vendor,
  visit,
} from '../steps.ts'

test('a license from first use shows its duration, starts with its use, and gets a date or no end', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await enter(page, vendor, '/licenses')
  await page.getByRole('button', { name: 'Generate License' }).first().click()
  const form = dialog(page, 'Generate License')
  await choose(form, 'Term', 'Never expires')
  await expect(form.getByLabel('Duration')).toBeHidden()
  await choose(form, 'Term', 'From first use')
  await form.getByLabel('Duration').fill('14')
  await expect(form).toContainText('Expires 14 days after the first use')
  await form.getByRole('button', { name: 'Generate License' }).click()
  await expectToast(page, 'Licenses Generated')
  await dialog(page, 'Licenses Generated').getByRole('button', { name: 'Done' }).click()
  const { licenses } = await vendor.call('GET', '/licenses')
  const [license] = licenses
  await expect(row(page, keyPrefix(license.key))).toContainText('14 days from first use')
  await (await Program.start(request, app)).register('erik', license)
  await page.reload()
  await expect(row(page, keyPrefix(license.key))).not.toContainText('from first use')
  await rowAction(page, keyPrefix(license.key), 'Edit License')
  const details = dialog(page, 'Edit License')
  await details.getByLabel('Devices', { exact: true }).fill('4')
  await details.getByLabel('Features').fill('pro export')
  await details.getByLabel('Note').fill('order 7')
  await details.getByRole('button', { name: 'Save License' }).click()
  await expectToast(page, 'License Updated')
  expect((await vendor.call('GET', '/licenses')).licenses).toMatchObject([
    { devices: 4, features: ['pro', 'export'], note: 'order 7' },
  ])
  await rowAction(page, keyPrefix(license.key), 'Edit Expiry')
  const edit = dialog(page, 'Edit Expiry')
  await choose(edit, 'Change', 'Extend from the current expiry')
  await edit.getByLabel('Extend By').fill('1')
  await edit.getByRole('button', { name: 'Update Expiry' }).click()
  await expectToast(page, 'License Updated')
  const extended = (await vendor.call('GET', '/licenses')).licenses[0]
  expect(Date.parse(extended.expiresAt) - Date.parse(extended.startedAt)).toBe(15 * 86_400_000)
  await rowAction(page, keyPrefix(license.key), 'Edit Expiry')
  await choose(edit, 'Change', 'Never expires')
  await edit.getByRole('button', { name: 'Update Expiry' }).click()
  await expect(row(page, keyPrefix(license.key))).toContainText('Never')
  expect((await vendor.call('GET', '/clients')).clients).toMatchObject([{ expiresAt: null }])
})

test('does not overwrite an edit that another user made while the dialog was open', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const license = (await vendor.createLicenses(app))[0]!
  await enter(page, vendor, '/licenses')
  const open = () => rowAction(page, keyPrefix(license.key), 'Edit License')
  const details = dialog(page, 'Edit License')
  await open()
  await details.getByLabel('Note').fill('mine')
  await vendor.call('PUT', `/licenses/${license._id}`, { note: 'theirs', features: ['pro'] })
  await details.getByRole('button', { name: 'Save License' }).click()
  await expectToast(
    page,
    'Update Failed',
    'Someone else changed this license in the meantime. Nothing was saved. Open it again to see the current values.',
  )
  expect((await vendor.call('GET', '/licenses')).licenses[0]).toMatchObject({ note: 'theirs' })
  await details.getByRole('button', { name: 'Cancel' }).click()
  await expect(row(page, keyPrefix(license.key))).toContainText('theirs')
  await open()
  await expect(details.getByLabel('Features')).toHaveValue('pro')
  await details.getByLabel('Note').fill('ours')
  await details.getByRole('button', { name: 'Save License' }).click()
  await expectToast(page, 'License Updated')
  expect((await vendor.call('GET', '/licenses')).licenses).toMatchObject([
    { note: 'ours', features: ['pro'] },
  ])
})

test('saves an edit again whose response was lost', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const license = (await vendor.createLicenses(await vendor.createApp()))[0]!
  await enter(page, vendor, '/licenses')
  await rowAction(page, keyPrefix(license.key), 'Edit License')
  const details = dialog(page, 'Edit License')
  await details.getByLabel('Note').fill('mine')
  await page.route('**/api/licenses/*', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await details.getByRole('button', { name: 'Save License' }).click()
  await expectToast(page, 'Update Failed')
  expect((await vendor.call('GET', '/licenses')).licenses).toMatchObject([{ note: 'mine' }])
  await page.unroute('**/api/licenses/*')
  await details.getByRole('button', { name: 'Save License' }).click()
  await expectToast(page, 'License Updated')
  await expect(row(page, keyPrefix(license.key))).toContainText('mine')
})

test('license types are created, sold by owner and reseller, changed with sold licenses, and deleted', async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  await enter(page, vendor)
  await rowAction(page, app.name, 'License Types')
  await page.getByRole('button', { name: 'Create Your First Type' }).click()
  const create = dialog(page, 'New License Type')
  await create.getByRole('button', { name: 'Create Type' }).click()
  await expect(create.getByText('Name is required')).toBeVisible()
  await create.getByLabel('Name', { exact: true }).fill('Pro')
  await create.getByLabel('Duration').fill('1')
  await choose(create, 'Unit', 'Years')
  await create.getByLabel('Devices', { exact: true }).fill('3')
  await create.getByLabel('Grace days').fill('7')
  await create.getByLabel('Features').fill('pro, export')
  await create.getByLabel('Key prefix').fill('PRO')
  await create.getByLabel('For Resellers').click()
  await create.getByRole('button', { name: 'Create Type' }).click()
  await expectToast(page, 'License type created')
  const list = part(page, 'License Types')
  await expect(list.getByRole('listitem')).toContainText(
    'Pro' + 'Resellers' + '1 year from first use, 7 grace days, 3 devices, pro, export',
  )

  await visit(page, `/apps/${app._id}?tab=types`)
  await expect(page.getByRole('list', { name: 'License types' })).toContainText('Pro')
  await page.getByRole('button', { name: 'Edit Pro' }).click()
  await expect(dialog(page, 'Edit Pro').getByLabel('Grace days')).toHaveValue('7')

  const seller = await Seller.signIn(request, await createReseller(vendor, app))
  await enterPortal(page, seller, '/reseller/licenses')
  await page.getByRole('button', { name: 'Generate License' }).first().click()
  const portalForm = dialog(page, 'Generate License')
  await choose(portalForm, 'Term', 'Pro')
  await expect(portalForm.getByLabel('Expiration Date')).toBeHidden()
  await portalForm.getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated')).toContainText('1 year from first use')

  await enter(page, vendor, '/licenses')
  await page.getByRole('button', { name: 'Generate License' }).first().click()
  const form = dialog(page, 'Generate License')
  await choose(form, 'Term', 'Type: Pro')
  await expect(form).toContainText('1 year from first use, 7 grace days, 3 devices')
  await form.getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated').getByRole('listitem')).toContainText('PRO-')

  await visit(page, '/dashboard')
  await rowAction(page, app.name, 'License Types')
  await list.getByRole('link', { name: '2 licenses' }).click()
  await expect(page).toHaveURL(/\/licenses\?app=[^&]+&type=/)
  await expect(rows(page)).toHaveCount(2)
  await page.goBack()
  await list.getByRole('button', { name: 'Edit Pro' }).click()
  const edit = dialog(page, 'Edit Pro')
  await edit.getByLabel('Devices', { exact: true }).fill('5')
  await edit.getByText('Sold licenses too').click()
  await expect(edit).toContainText('Sold licenses get the devices')
  await edit.getByRole('button', { name: 'Save Type' }).click()
  await expectToast(page, 'License type changed', '2 sold licenses changed too.')
  expect((await vendor.call('GET', '/licenses')).licenses).toMatchObject([{ devices: 5 }, { devices: 5 }])
  await list.getByRole('button', { name: 'Delete Pro' }).click()
  await dialog(page, 'Delete the type Pro?').getByRole('button', { name: 'Delete Type' }).click()
  await expectToast(page, 'License type deleted')
  await expect(list).toContainText('No license types yet')
})
