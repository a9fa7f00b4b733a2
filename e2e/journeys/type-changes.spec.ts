import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { choose, dialog, enter, expectToast, keyPrefix, Program, rowAction, Vendor } from '../steps.ts'

const open = async (page: Page) => {
  await page.getByRole('button', { name: /^Actions for / }).click()
  await page.getByRole('menuitem', { name: 'Change Type' }).click()
  return dialog(page, 'Change License Type')
}

async function sold(vendor: Vendor) {
  const app = await vendor.createApp()
  const makeType = async (fields: object) =>
    (await vendor.call('POST', `/apps/${app._id}/license-types`, fields)).licenseType
  const year = { value: 1, unit: 'years' }
  const pro = await makeType({
    name: 'Pro',
    term: 'first_use',
    duration: year,
    devices: 3,
    features: ['pro'],
  })
  const basic = { value: 1, unit: 'months' }
  await makeType({ name: 'Basic', term: 'first_use', duration: basic, features: ['basic'] })
  const { license } = await vendor.call('POST', '/licenses', { app: app._id, type: pro._id })
  return { app, license }
}

test('a type changes in three steps, and the dialog says what changes for the customer', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const { app, license } = await sold(vendor)
  await (await Program.start(request, app)).register('erik', license)
  const read = async () => (await vendor.call('GET', `/licenses/${license._id}`)).license
  const before = await read()
  await enter(page, vendor, `/licenses/${license._id}`)
  const change = await open(page)
  await choose(change, 'License Type', 'Basic')
  for (const line of ['Type' + 'Pro → Basic', 'Devices' + '3 → 1', 'Features' + 'pro → basic']) {
    await expect(change).toContainText(line)
  }
  await expect(change).toContainText('Devices that are bound stay bound')
  await change.getByRole('button', { name: 'Change Type' }).click()
  await expectToast(page, 'License Updated')
  await expect(page.getByText('Basic', { exact: true })).toBeVisible()
  expect(await read()).toMatchObject({ type: { name: 'Basic' }, devices: 1, expiresAt: before.expiresAt })
})

test('a license gets shorter with its type only after the owner says so', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const { app, license } = await sold(vendor)
  await (await Program.start(request, app)).register('erik', license)
  const read = async () => (await vendor.call('GET', `/licenses/${license._id}`)).license
  const before = await read()
  await enter(page, vendor, '/licenses')
  await rowAction(page, keyPrefix(license.key), 'Change Type')
  const change = dialog(page, 'Change License Type')
  await choose(change, 'License Type', 'Basic')
  await choose(change, 'Expiry', 'As the type says')
  await expect(change).toContainText('This shortens the license.')
  await expect(change.getByRole('button', { name: 'Change Type' })).toBeDisabled()
  await change.getByLabel('Shorten the license').click()
  await change.getByRole('button', { name: 'Change Type' }).click()
  await expectToast(page, 'License Updated')
  const after = await read()
  expect(Date.parse(after.expiresAt)).toBeLessThan(Date.parse(before.expiresAt))
})
