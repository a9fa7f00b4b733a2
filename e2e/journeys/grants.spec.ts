import type { APIRequestContext } from '@playwright/test'
import { expectAccessible, expectToFit } from '../accessibility.ts'
import { Shop } from '../buying.ts'
import { expect, test } from '../keyward.ts'
import { addShop, sell } from '../shop.ts'
import {
  type App,
  choose,
  dialog,
  enter,
  expectToast,
  fact,
  heading,
  inDays,
  keyPrefix,
  type License,
  Program,
  row,
  shownDate,
  unique,
  Vendor,
} from '../steps.ts'

/** A license that a shop has sold. */
async function buy(request: APIRequestContext, vendor: Vendor, app: App) {
  const duration = { value: 30, unit: 'days' }
  const types = `/apps/${app._id}/license-types`
  const { licenseType } = await vendor.call('POST', types, { name: 'Pro', term: 'first_use', duration })
  const shop = await addShop(vendor, app, [{ product: 'pro', type: licenseType._id }])
  const order = unique('A')
  await sell(request, shop, { order, product: 'pro' })
  let license: License | undefined
  await expect(async () => {
    license = (await vendor.call('GET', `/licenses?search=${order}`)).licenses[0]
    expect(license).toBeDefined()
  }).toPass()
  return { license: license!, order }
}

/** Adds a key of 10 days with a feature to an end user. */
async function addCloud(vendor: Vendor, app: App, user: string) {
  const [license] = await vendor.createLicenses(app, 1, 10)
  await vendor.call('PUT', `/licenses/${license!._id}`, { features: ['cloud'], devices: 3 })
  await vendor.call('POST', `/clients/${user}/licenses`, { license: license!._id })
  return license!
}

const hintOf = ({ key }: License) => `${key.slice(0, 11)}…`

test('the page of an end user says why it ends when it does, and what each added key gives', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request, 'Ada Vendor')
  const app = await vendor.createApp('Tally')
  const { license, order } = await buy(request, vendor, app)
  await (await Program.start(request, app)).register('erik', license)
  const user = (await vendor.call('GET', '/clients')).clients[0]
  await vendor.call('PATCH', `/clients/${user._id}/extend`, { days: 3 })
  const cloud = await addCloud(vendor, app, user._id)
  const banned = await addCloud(vendor, app, user._id)
  await vendor.call('PATCH', `/licenses/${banned._id}/toggle-ban`, { is_banned: true })
  await vendor.call('PATCH', `/clients/${user._id}/toggle-pause`, { paused: true })

  await enter(page, vendor, `/users/${user._id}`)
  await expect(heading(page, 'erik')).toBeVisible()
  const until = shownDate(inDays(10))
  await expect(fact(page, `Added ${hintOf(cloud)}`)).toHaveText(`cloud, 3 devices until ${until}`, {
    useInnerText: true,
  })
  const why = page.getByRole('button', { name: 'Why does it end then?' })
  await why.click()
  const answer = dialog(page, 'Why does it end then?')
  await expect(answer).toContainText(`Expires: ${shownDate(inDays(43))}. Newest first.`)
  const steps = answer.getByRole('listitem')
  const today = shownDate(Date.now())
  for (const [at, text] of [
    `Paused since ${today} by Ada Vendor`,
    `Key ${hintOf(banned)} added 10 days`,
    `Key ${hintOf(cloud)} added 10 days`,
    'Extended by 3 days by Ada Vendor',
    `Bought in order ${order}, valid until ${shownDate(inDays(30))}`,
  ].entries())
    await expect(steps.nth(at)).toContainText(text)
  await expect(steps.nth(1)).toContainText(`Taken back on ${today}.`)
  await expect(steps.nth(2)).toContainText(`What it allows holds until ${until}.`)
  await expectAccessible(page, 'why an end user ends')
  await expectToFit(page, 'why an end user ends')
  await page.keyboard.press('Escape')
  await expect(answer).toBeHidden()
  await expect(why).toBeFocused()
  await why.click()
  await answer.getByRole('link', { name: hintOf(cloud) }).click()
  await expect(page).toHaveURL(`/licenses/${cloud._id}`)
  await page.goBack()
  await answer.getByRole('link', { name: order }).click()
  await expect(page).toHaveURL(`/orders?search=${order}`)
  await expect(row(page, order)).toBeVisible()
})

test('the page of a license says why it ends, or never does', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request, 'Ada Vendor')
  const app = await vendor.createApp('Tally')
  const { license, order } = await buy(request, vendor, app)
  await enter(page, vendor, `/licenses/${license._id}`)
  await page.getByRole('button', { name: 'Why does it end then?' }).click()
  const answer = dialog(page, 'Why does it end then?')
  await expect(answer).toContainText(`Bought in order ${order}, valid 30 days from first use`)
  await vendor.call('PUT', `/licenses/${license._id}`, { expiresAt: null })
  await page.reload()
  const never = dialog(page, 'Why does it never expire?')
  await expect(never.getByRole('listitem').first()).toContainText('Set to never expire by Ada Vendor')
  await expect(never).toContainText('Replaces all time that was granted before.')
  await expectAccessible(page, 'why a license never ends')
})

test('an undone extension of a paused end user is taken back, and says so', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request, 'Ada Vendor')
  const app = await vendor.createApp('Tally')
  const ends = async () =>
    Promise.all(
      ['erik', 'olga'].map(async (name) => {
        const { clients } = await vendor.call('GET', `/clients?search=${name}`)
        return shownDate(clients[0].expiresAt)
      }),
    )
  const erik = await vendor.createEndUser(app, 'erik', 10)
  await vendor.createEndUser(app, 'olga', 20)
  await vendor.call('PATCH', `/clients/${erik._id}/toggle-pause`, { paused: true })
  const before = await ends()
  await enter(page, vendor, '/users')
  await page.getByRole('checkbox', { name: 'Select all rows on this page' }).check()
  await page.getByRole('region', { name: 'Selected rows' }).getByRole('button', { name: 'Extend' }).click()
  const extend = dialog(page, 'Extend 2 end users')
  await extend.getByText('Other', { exact: true }).click()
  await extend.getByLabel('Extend By').fill('7')
  await extend.getByRole('button', { name: 'Extend' }).last().click()
  const toast = page.locator('[data-sonner-toast]').filter({ hasText: '2 end users got 7 more days.' })
  await expect(toast).toBeVisible()
  expect(await ends()).toEqual([shownDate(inDays(17)), shownDate(inDays(27))])
  await toast.getByRole('button', { name: 'Undo' }).click()
  await expectToast(page, 'Undone', '2 end users restored.')
  expect(await ends()).toEqual(before)
  await page.getByRole('link', { name: 'erik' }).click()
  await page.getByRole('button', { name: 'Why does it end then?' }).click()
  const steps = dialog(page, 'Why does it end then?').getByRole('listitem')
  await expect(steps.first()).toContainText('Extended by 7 days by Ada Vendor')
  await expect(steps.first()).toContainText('Taken back on')
  await expect(steps.nth(1)).toContainText('Paused since')
})

test('a date that an order makes longer is kept for its refund, said so, and undone with the others', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request, 'Ada Vendor')
  const app = await vendor.createApp('Tally')
  const shop = await Shop.open(request, vendor, app, {
    month: { term: 'date', duration: { value: 30, unit: 'days' } },
  })
  const [shorter] = await vendor.createLicenses(app, 1, 10)
  const { licenseTypes } = await vendor.call('GET', `/apps/${app._id}/license-types`)
  const { license: renewed } = await vendor.call('POST', '/licenses', {
    app: app._id,
    type: licenseTypes[0]._id,
  })
  await (await Program.start(request, app)).register('erik', renewed)
  const { license } = await vendor.call('GET', `/licenses/${renewed._id}`)
  await shop.buy('ada@example.com', 'month', { reference: license.buyReference })
  const endOf = async ({ _id }: License) =>
    shownDate((await vendor.call('GET', `/licenses/${_id}`)).license.expiresAt)
  await expect.poll(() => endOf(renewed)).toBe(shownDate(inDays(60)))

  await enter(page, vendor, '/licenses')
  await page.getByRole('checkbox', { name: 'Select all rows on this page' }).check()
  await page.getByRole('region', { name: 'Selected rows' }).getByRole('button', { name: 'Extend' }).click()
  const extend = dialog(page, 'Extend 2 licenses')
  await extend.getByText('Other', { exact: true }).click()
  await choose(extend, 'Change', 'Set a date')
  const date = inDays(40)
  await extend.getByLabel('Expiration Date').fill(date.toISOString().slice(0, 10))
  await extend.getByRole('button', { name: 'Extend Licenses' }).click()
  const toast = page.locator('[data-sonner-toast]').filter({ hasText: '1 license expires on' })
  await expect(toast).toBeVisible()
  expect(await endOf(renewed)).toBe(shownDate(inDays(60)))

  await toast.getByRole('button', { name: 'Undo' }).click()
  await expectToast(page, 'Undone', '2 licenses restored.')
  expect(await endOf(shorter!)).toBe(shownDate(inDays(10)))

  await page.getByRole('link', { name: keyPrefix(renewed.key) }).click()
  await page.getByRole('button', { name: 'Why does it end then?' }).click()
  const answer = dialog(page, 'Why does it end then?')
  const kept = answer.getByRole('listitem').first()
  await expect(kept).toContainText(`Extended to ${shownDate(date)} by Ada Vendor, unless an order gives more`)
  await expect(kept).toContainText('Taken back on')
  await expectAccessible(page, 'why a license ends later than its date')
})
