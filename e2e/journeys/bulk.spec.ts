import type { Page } from '@playwright/test'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  inDays,
  keyPrefix,
  openFilters,
  Program,
  row,
  rows,
  shownDate,
  Vendor,
} from '../steps.ts'

const select = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}` }).check()
const selectAll = (page: Page) => page.getByRole('checkbox', { name: 'Select all rows on this page' })
const bar = (page: Page) => page.getByRole('region', { name: 'Selected rows' })
const act = (page: Page, name: string) => bar(page).getByRole('button', { name, exact: true }).click()
const toastOf = (page: Page, title: string) =>
  page.locator('[data-sonner-toast]').filter({ has: page.getByText(title, { exact: true }) })

test.describe('many licenses', () => {
  test('are selected one by one or by page, across pages, until the filters change', {
    tag: '@full',
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const licenses = await vendor.createLicenses(await vendor.createApp(), 30)
    await enter(page, vendor, '/licenses')
    await expect(rows(page)).toHaveCount(25)
    await expect(bar(page)).toBeHidden()
    await selectAll(page).check()
    await expect(bar(page)).toContainText('25 licenses selected')
    await page.getByRole('button', { name: 'Next' }).click()
    await expect(rows(page)).toHaveCount(5)
    await expect(selectAll(page)).not.toBeChecked()
    await rows(page).nth(0).getByRole('checkbox').check()
    await expect(bar(page)).toContainText('26 licenses selected')
    await bar(page).getByRole('button', { name: 'Clear selection' }).click()
    await expect(bar(page)).toBeHidden()
    await selectAll(page).check()
    await expect(bar(page)).toContainText('5 licenses selected')
    await openFilters(page)
    await page.getByRole('searchbox').fill(licenses[0]!.key)
    await expect(rows(page)).toHaveCount(1)
    await expect(bar(page)).toBeHidden()
  })

  test('are banned, which rejects their programs, and restored by Undo', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [one, two, three] = await vendor.createLicenses(app, 3)
    const program = await Program.start(request, app)
    await program.register('erik', one!)
    await vendor.call('PATCH', `/licenses/${three!._id}/toggle-ban`, { is_banned: true })
    await enter(page, vendor, '/licenses')
    await selectAll(page).check()
    await act(page, 'Ban')
    const question = dialog(page, 'Ban 2 licenses?')
    await expect(question).toContainText('erik is shut out')
    await expect(question).toContainText('1 other selected one is already banned')
    await expectAccessible(page, 'ban many licenses')
    await question.getByRole('button', { name: 'Ban Licenses' }).click()
    const bannedToast = toastOf(page, 'Licenses Banned')
    await expect(bannedToast).toContainText('2 licenses')
    await expect(rows(page).filter({ hasText: 'Banned' })).toHaveCount(3)
    await expect(bar(page)).toBeHidden()
    expect(await program.login('erik')).toMatchObject({ status: 403, body: { code: 'keyBanned' } })
    await bannedToast.getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone', '2 licenses restored.')
    await expect(row(page, keyPrefix(one!.key))).toContainText('Active')
    await expect(row(page, keyPrefix(two!.key))).toContainText('Unused')
    await expect(row(page, keyPrefix(three!.key))).toContainText('Banned')
    expect(await program.login('erik')).toMatchObject({ body: { success: true } })
  })

  test('are extended with their end users, and restored exactly by Undo', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [used] = await vendor.createLicenses(app, 1, 10)
    const [unused] = await vendor.createLicenses(app, 1, 20)
    await (await Program.start(request, app)).register('erik', used!)
    await enter(page, vendor, '/licenses')
    await selectAll(page).check()
    await act(page, 'Extend')
    const extend = dialog(page, 'Extend 2 licenses')
    await extend.getByText('Other', { exact: true }).click()
    await extend.getByLabel('Extend By').fill('0')
    await extend.getByRole('button', { name: 'Extend Licenses' }).click()
    await expect(extend.getByLabel('Extend By')).toHaveAttribute('aria-invalid', 'true')
    await extend.getByLabel('Extend By').fill('7')
    await expect(extend).toContainText(`${shownDate(inDays(17))} to ${shownDate(inDays(27))}`)
    await expectAccessible(page, 'extend many licenses')
    await extend.getByRole('button', { name: 'Extend Licenses' }).click()
    const extendedToast = toastOf(page, 'Licenses Extended')
    await expect(extendedToast).toContainText('2 licenses got 7 more days.')
    await expect(row(page, keyPrefix(used!.key))).toContainText(shownDate(inDays(17)))
    await expect(row(page, keyPrefix(unused!.key))).toContainText(shownDate(inDays(27)))
    const user = async () => (await vendor.call('GET', '/clients')).clients[0]
    expect(shownDate((await user()).expiresAt)).toBe(shownDate(inDays(17)))
    await extendedToast.getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone', '2 licenses restored.')
    expect((await user()).expiresAt).toBe(used!.expiresAt)
  })

  test('get a calendar month each, whatever its length', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const licenses = await vendor.createLicenses(await vendor.createApp(), 3)
    const ends = ['2040-01-31', '2040-02-10', '2040-04-10']
    for (const [at, license] of licenses.entries()) {
      await vendor.call('PUT', `/licenses/${license._id}`, { expiresAt: `${ends[at]}T12:00:00.000Z` })
    }
    await enter(page, vendor, '/licenses')
    await selectAll(page).check()
    await act(page, 'Extend')
    await dialog(page, 'Extend 3 licenses').getByRole('button', { name: 'Extend Licenses' }).click()
    await expectToast(page, 'Licenses Extended', '3 licenses got 1 more month.')
    const extended = (await vendor.call('GET', '/licenses')).licenses.map(
      ({ expiresAt }: { expiresAt: string }) => expiresAt.slice(0, 10),
    )
    expect(extended.sort()).toEqual(['2040-02-29', '2040-03-10', '2040-05-10'])
  })

  test('get one date or no end, none earlier by accident, and their former ends and terms by Undo', {
    tag: '@full',
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await vendor.createLicenses(app, 1, 10)
    await vendor.createLicenses(app, 1, 90)
    await vendor.call('POST', '/licenses', { app: app._id, duration: { value: 30, unit: 'days' } })
    const ends = async () =>
      (await vendor.call('GET', '/licenses?sort=oldest')).licenses.map(
        ({ expiresAt, term }: { expiresAt: string | null; term: string }) => [expiresAt, term],
      )
    const before = await ends()
    await enter(page, vendor, '/licenses')
    const open = async (change: string) => {
      await selectAll(page).check()
      await act(page, 'Extend')
      const extend = dialog(page, /^Extend \d licenses?$/)
      await expect(extend).toContainText('1 never expires or was not used yet, and stays unchanged.')
      await extend.getByText('Other', { exact: true }).click()
      await choose(extend, 'Change', change)
      return extend
    }
    const undo = async (count: string) => {
      await toastOf(page, 'Expiry Changed').getByRole('button', { name: 'Undo' }).click()
      await expectToast(page, 'Undone', `${count} restored.`)
      expect(await ends()).toEqual(before)
      await expect(page.locator('[data-sonner-toast]')).toHaveCount(0)
    }

    const date = inDays(60).toISOString().slice(0, 10)
    let extend = await open('Set a date')
    await extend.getByLabel('Expiration Date').fill(date)
    await expect(extend).toContainText('2 of 3 expire later or never, and stay as they are.')
    await expectAccessible(page, 'one date for many licenses')
    await extend.getByRole('button', { name: 'Extend Licenses' }).click()
    await expect(toastOf(page, 'Expiry Changed')).toContainText('1 license expires on')
    const terms = async () =>
      (await ends()).map(([end, term]: [string | null, string]) => [end?.slice(0, 10), term])
    expect(await terms()).toEqual([
      [date, 'date'],
      [before[1][0].slice(0, 10), 'date'],
      [undefined, 'first_use'],
    ])
    await undo('1 license')

    extend = await open('Set a date')
    await extend.getByLabel('Expiration Date').fill(date)
    await extend.getByText('Shorten them too').click()
    await extend.getByRole('button', { name: 'Extend Licenses' }).click()
    await expect(toastOf(page, 'Expiry Changed')).toContainText('3 licenses expire on')
    expect(await terms()).toEqual(Array(3).fill([date, 'date']))
    await undo('3 licenses')

    extend = await open('Never expires')
    await extend.getByRole('button', { name: 'Extend Licenses' }).click()
    await expect(toastOf(page, 'Expiry Changed')).toContainText('3 licenses never expire.')
    expect(await terms()).toEqual(Array(3).fill([undefined, 'forever']))
    await undo('3 licenses')
  })

  test('are deleted after a confirmation that names their users, and reports licenses that no longer exist', {
    tag: '@phone',
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [used, gone, other] = await vendor.createLicenses(app, 3)
    const program = await Program.start(request, app)
    await program.register('erik', used!)
    await enter(page, vendor, '/licenses')
    await select(page, keyPrefix(used!.key))
    await select(page, keyPrefix(gone!.key))
    await expectStateAccessible(page, 'licenses with a selection')
    await act(page, 'Delete')
    const question = dialog(page, 'Delete 2 licenses?')
    await expect(question).toContainText('1 is in use by erik')
    await expect(question).toContainText('expire immediately')
    await expectAccessible(page, 'delete many licenses')
    await expect(question.getByRole('button', { name: 'Delete Licenses' })).toBeDisabled()
    await question.getByLabel('Type 2 to confirm').fill('2')
    await vendor.call('DELETE', `/licenses/${gone!._id}`)
    await question.getByRole('button', { name: 'Delete Licenses' }).click()
    const result = dialog(page, '1 of 2 licenses deleted')
    await expect(result).toContainText(keyPrefix(gone!.key))
    await expect(result).toContainText('It no longer exists.')
    await expectStateAccessible(page, 'what could not be deleted')
    await result.getByRole('button', { name: 'Close' }).first().click()
    await expect(rows(page)).toHaveCount(1)
    await expect(row(page, keyPrefix(other!.key))).toBeVisible()
    await expect(bar(page)).toBeHidden()
    expect(await program.login('erik')).toMatchObject({ body: { code: 'noActiveSubs' } })

    await test.step('are sorted in both orders, kept in the URL', async () => {
      const [later] = await vendor.createLicenses(app)
      await expect(rows(page).first()).toContainText(keyPrefix(later!.key))
      await openFilters(page)
      await choose(page, 'Order', 'Oldest first')
      await expect(rows(page).first()).toContainText(keyPrefix(other!.key))
      await page.reload()
      await expect(rows(page).first()).toContainText(keyPrefix(other!.key))
      await expect(page).toHaveURL(/sort=oldest/)
    })
  })
})

test.describe('many end users', () => {
  test('are banned, unbanned, extended and deleted, which frees their keys', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [license] = await vendor.createLicenses(app, 1, 10)
    const program = await Program.start(request, app)
    await program.register('erik', license!)
    await vendor.createEndUser(app, 'hanna', 20)
    await enter(page, vendor, '/users')
    await expect(rows(page)).toHaveCount(2)

    await selectAll(page).check()
    await expect(bar(page)).toContainText('2 end users selected')
    await act(page, 'Ban')
    await expectAccessible(page, 'ban many end users')
    await dialog(page, 'Ban 2 end users?').getByRole('button', { name: 'Ban Users' }).click()
    await expect(rows(page).filter({ hasText: 'Banned' })).toHaveCount(2)
    expect(await program.login('erik')).toMatchObject({ status: 403, body: { code: 'userBanned' } })
    await toastOf(page, 'Users Banned').getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone', '2 end users restored.')
    await expect(rows(page).filter({ hasText: 'Active' })).toHaveCount(2)

    await selectAll(page).check()
    await act(page, 'Reset HWID')
    const reset = dialog(page, 'Reset HWID of 2 end users?')
    await expectAccessible(page, 'reset the HWID of many end users')
    await reset.getByRole('button', { name: 'Cancel' }).click()
    await act(page, 'Extend')
    const extend = dialog(page, 'Extend 2 end users')
    await extend.getByText('Other', { exact: true }).click()
    await extend.getByLabel('Extend By').fill('5')
    await extend.getByRole('button', { name: 'Extend Subscriptions' }).click()
    await expectToast(page, 'Subscriptions Extended', '2 end users got 5 more days.')
    await expect(row(page, 'erik')).toContainText(shownDate(inDays(15)))
    await expect(row(page, 'hanna')).toContainText(shownDate(inDays(25)))
    const { licenses } = await vendor.call('GET', '/licenses')
    expect(shownDate(licenses[0].expiresAt)).toBe(shownDate(inDays(15)))

    await selectAll(page).check()
    await act(page, 'Delete')
    const question = dialog(page, 'Delete 2 end users?')
    await expect(question).toContainText('One license key becomes free')
    await expectAccessible(page, 'delete many end users')
    await expect(question.getByRole('button', { name: 'Delete Users' })).toBeDisabled()
    await question.getByLabel('Type 2 to confirm').fill('2')
    await question.getByRole('button', { name: 'Delete Users' }).click()
    await expectToast(page, 'Users Deleted', '2 end users permanently deleted.')
    await expect(page.getByText('No end users yet')).toBeVisible()
    await (await Program.start(request, app)).register('anna', license!)
  })

  test('get one date or no end, restored exactly by Undo', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await vendor.createEndUser(app, 'erik', 10)
    await vendor.createEndUser(app, 'hanna', 20)
    const ends = async () =>
      (await vendor.call('GET', '/clients')).clients.map(
        ({ expiresAt }: { expiresAt: string | null }) => expiresAt,
      )
    const before = await ends()
    await enter(page, vendor, '/users')
    await selectAll(page).check()
    await act(page, 'Extend')
    const extend = dialog(page, 'Extend 2 end users')
    await extend.getByText('Other', { exact: true }).click()
    await choose(extend, 'Change', 'Never expires')
    await extend.getByRole('button', { name: 'Extend Subscriptions' }).click()
    await expect(toastOf(page, 'Expiry Changed')).toContainText('2 end users never expire.')
    expect(await ends()).toEqual([null, null])
    await toastOf(page, 'Expiry Changed').getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone', '2 end users restored.')
    expect(await ends()).toEqual(before)
  })

  test('keep what someone else changed before Undo, which restores the others exactly', {
    tag: '@full',
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [license] = await vendor.createLicenses(app, 1, 10)
    await (await Program.start(request, app)).register('erik', license!)
    await vendor.createEndUser(app, 'hanna', 20)
    const { clients } = await vendor.call('GET', '/clients')
    const find = (name: string) => clients.find(({ username }: { username: string }) => username === name)
    const end = async (name: string) =>
      (await vendor.call('GET', `/clients/${find(name)._id}`)).client.expiresAt
    await enter(page, vendor, '/users')
    await selectAll(page).check()
    await act(page, 'Extend')
    await dialog(page, 'Extend 2 end users').getByRole('button', { name: 'Extend Subscriptions' }).click()
    const extended = toastOf(page, 'Subscriptions Extended')
    await expect(extended).toContainText('2 end users got 1 more month.')
    await vendor.call('PATCH', `/clients/${find('hanna')._id}/extend`, { days: 3 })
    const kept = await end('hanna')
    await extended.getByRole('button', { name: 'Undo' }).click()
    await expectToast(
      page,
      'Partly Undone',
      '1 of 2 end users restored. 1 has changed since, and stays as it is.',
    )
    expect([await end('erik'), await end('hanna')]).toEqual([find('erik').expiresAt, kept])
  })
})
