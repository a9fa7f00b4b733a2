import { readFile } from 'node:fs/promises'
import { expect, test } from '../keyward.ts'
import { createReseller, dayInput, enterPortal, premiumVendor, Seller, setPlan } from '../reseller.ts'
import {
  dialog,
  expectToast,
  figure,
  keyPrefix,
  moreAction,
  openFilters,
  Program,
  readClipboard,
  row,
  shownDate,
} from '../steps.ts'

test('licenses are generated with the end of the chosen day, copied, used and deleted', {
  tag: '@phone',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 5)
  const seller = await Seller.signIn(request, reseller)
  await enterPortal(page, seller, '/reseller/licenses')
  await expect(page.getByText('No licenses yet')).toBeVisible()
  await page.getByRole('button', { name: 'Delete All' }).click()
  await expectToast(page, 'No licenses to delete')

  await page.getByRole('button', { name: 'Generate License' }).first().click()
  const form = dialog(page, 'Generate License')
  const count = form.getByLabel('Number of Licenses')
  const date = form.getByLabel('Expiration Date')
  await count.fill('')
  await date.focus()
  await expect(count).toHaveValue('1')
  await count.fill('2')
  await expect(date).toHaveAttribute('min', dayInput(0))
  await date.fill(dayInput(-1))
  await form.getByRole('button', { name: 'Generate License' }).click()
  await expect(form.getByText('The expiration date cannot be before today')).toBeVisible()
  const chosen = dayInput(40)
  await date.fill(chosen)
  await form.getByLabel('Note').fill('Bakery, order 7')
  await form.getByRole('button', { name: 'Generate License' }).click()
  await expectToast(page, 'Licenses generated successfully!', '2 license(s) created successfully')
  await page.getByRole('button', { name: 'Copy all license keys' }).click()
  await expectToast(page, 'License keys copied to clipboard')
  const keys = (await readClipboard(page)).split('\n')
  expect(keys).toHaveLength(2)
  await page.getByRole('button', { name: 'Done' }).click()

  const { licenses } = await seller.call('GET', '/licenses')
  expect(licenses[0].expiresAt).toBe(`${chosen}T23:59:59.999Z`)
  const used = licenses[0]
  await (await Program.start(request, app)).register('erik', used)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await expectToast(page, 'Data refreshed successfully')
  const usedRow = row(page, keyPrefix(used.key))
  await expect(usedRow).toContainText('Used')
  await expect(usedRow).toContainText('erik')
  await expect(usedRow).toContainText('Tally')
  await expect(usedRow).toContainText(shownDate(Date.now()))
  await expect(usedRow).toContainText(shownDate(used.expiresAt))
  await expect(row(page, keyPrefix(licenses[1].key))).toContainText('Available')
  await vendor.call('PUT', `/licenses/${licenses[1]._id}`, { expiresAt: new Date().toISOString() })
  await page.getByRole('button', { name: 'Refresh' }).click()
  await expectToast(page, 'Data refreshed successfully')
  await expect(row(page, keyPrefix(licenses[1].key))).toContainText('Expired')
  for (const [name, value] of [
    ['Total Generated', '2'],
    ['Available', '0'],
    ['Used', '1'],
    ['Expired', '1'],
  ] as const) {
    await expect(figure(page, name)).toContainText(value)
  }
  await expect(usedRow).toContainText('Bakery, order 7')
  await usedRow.getByRole('button', { name: keyPrefix(used.key), exact: true }).click()
  const opened = dialog(page, 'License')
  await expect(opened).toContainText(used.key)
  await expect(opened).toContainText('0 of 1')
  await opened.getByLabel('Note').fill('Brewery, order 8')
  await opened.getByRole('button', { name: 'Save Note' }).click()
  await expectToast(page, 'Note Saved')
  await expect(usedRow).toContainText('Brewery, order 8')
  await usedRow.getByRole('button', { name: keyPrefix(used.key), exact: true }).click()
  await expect(opened.getByLabel('Note')).toHaveValue('Brewery, order 8')
  await page.keyboard.press('Escape')
  await usedRow.getByRole('button', { name: 'Copy license key' }).click()
  await expectToast(page, 'License key copied to clipboard')
  expect(await readClipboard(page)).toBe(used.key)

  await page.getByRole('button', { name: 'Delete All' }).click()
  const question = dialog(page, 'Delete All Licenses')
  await expect(question).toContainText('One of them is in use')
  await question.getByRole('textbox').fill('delete all')
  await question.getByRole('button', { name: 'Delete All' }).click()
  await expectToast(page, 'Successfully deleted 2 license(s)')
  await expect(page.getByText('No licenses yet')).toBeVisible()
  await expect(figure(page, 'Total Generated')).toContainText('5 remaining')

  await test.step("shows the server's message for a rejection", async () => {
    await page.getByRole('button', { name: 'Generate License' }).first().click()
    await count.fill('3')
    await vendor.call('PUT', `/resellers/${reseller._id}`, { licenseLimit: 1 })
    await form.getByRole('button', { name: 'Generate License' }).click()
    await expectToast(page, 'You can generate at most 1 more license(s)')
    await expect(form.getByText('You can generate at most 1 more license(s)')).toBeVisible()
    setPlan(keyward, vendor, 'free')
    await count.fill('1')
    await form.getByRole('button', { name: 'Generate License' }).click()
    await expectToast(page, 'Licenses cannot be generated at the moment. Please contact your administrator.')
  })
})

test('licenses are searched and exported', { tag: '@full' }, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const seller = await Seller.signIn(request, await createReseller(vendor, app, 40))
  const [license] = await seller.generate(30)
  await (await Program.start(request, app)).register('erik', license!)
  await enterPortal(page, seller, '/reseller/licenses')
  await expect(page.getByText('1–25 of 30 licenses')).toBeVisible()
  await openFilters(page)
  const search = page.getByRole('searchbox', { name: 'Search licenses' })
  await search.fill('eri')
  await expect(page.getByText('1–1 of 1 license')).toBeVisible()
  await expect(row(page, keyPrefix(license!.key))).toContainText('erik')
  await expect(figure(page, 'Total Generated')).toContainText('30')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    moreAction(page, 'Export matching licenses as CSV'),
  ])
  expect(file.suggestedFilename()).toMatch(/^licenses-[0-9-]+\.csv$/)
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
  expect(lines).toEqual([expect.stringContaining('key,app,status'), expect.stringContaining(license!.key)])
  await expectToast(page, 'Export Ready', `1 license in ${file.suggestedFilename()}`)
  await search.fill('nothing of that name')
  await page.getByRole('button', { name: 'Clear Search' }).click()
  await expect(page.getByText('1–25 of 30 licenses')).toBeVisible()
})

test('marks licenses that the owner has banned', { tag: '@full' }, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app)
  const seller = await Seller.signIn(request, reseller)
  const [banned, plain] = await seller.generate(2)
  await vendor.call('PATCH', `/licenses/${banned?._id}/toggle-ban`, {})
  await enterPortal(page, seller, '/reseller/licenses')
  const bannedRow = row(page, keyPrefix(banned?.key ?? ''))
  await expect(bannedRow.getByText('Available', { exact: true })).toBeVisible()
  await expect(bannedRow.getByText('Banned', { exact: true })).toBeVisible()
  await expect(row(page, keyPrefix(plain?.key ?? ''))).toContainText('Available')
  await expect(page.getByText('Banned', { exact: true })).toHaveCount(1)
  await page.goto('/reseller/dashboard')
  await expect(page.getByText('Banned', { exact: true })).toHaveCount(1)
})
