import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  inDays,
  keyPrefix,
  moreAction,
  rows,
  signIn,
  Vendor,
} from '../steps.ts'

const select = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}` }).check()
const bar = (page: Page) => page.getByRole('region', { name: 'Selected rows' })
const act = (page: Page, name: string) => bar(page).getByRole('button', { name, exact: true }).click()
async function download(page: Page, start: () => Promise<void>) {
  const [file] = await Promise.all([page.waitForEvent('download'), start()])
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

test('the export contains exactly the filtered rows, with cells that no spreadsheet runs', async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const [one, two] = [await vendor.createApp('One'), await vendor.createApp('Two')]
  const expiresAt = inDays(30).toISOString()
  const { license } = await vendor.call('POST', '/licenses', { app: one._id, expiresAt, note: '=1+1' })
  const [plain] = await vendor.createLicenses(one)
  await vendor.createLicenses(two, 3)
  await enter(page, vendor, '/licenses')
  await choose(page, 'App', 'One')
  await expect(rows(page)).toHaveCount(2)
  const exportAs = (format: string) => () => moreAction(page, `Export matching licenses as ${format}`)
  const csv = await download(page, exportAs('CSV'))
  expect(csv.name).toMatch(/^licenses-\d{4}-\d\d-\d\d\.csv$/)
  const lines = csv.text.trim().split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/^key,app,/)
  expect(lines[1]).toContain(plain!.key)
  expect(lines[2]).toContain(license.key)
  expect(lines[2]).toContain(",'=1+1,")
  await expectToast(page, 'Export Ready', `2 licenses in ${csv.name}`)

  const json = await download(page, exportAs('JSON'))
  expect(JSON.parse(json.text).map((each: { key: string }) => each.key)).toEqual([plain!.key, license.key])
  await expectToast(page, 'Export Ready', `2 licenses in ${json.name}`)

  await select(page, keyPrefix(license.key))
  const chosen = await download(page, async () => {
    await act(page, 'Export')
    await page.getByRole('menuitem', { name: 'Selected as CSV' }).click()
  })
  // The server's file ends with the customer, whose address the list does not have.
  const withoutCustomer = [lines[0], lines[2]].map((line) => line?.replace(/,(customer)?$/, ''))
  expect(chosen.text.trim().split('\r\n')).toEqual(withoutCustomer)
})

test.describe('the import', () => {
  test('warns that keys in a column of another name are replaced by random ones', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await vendor.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
    await enter(page, vendor, '/licenses?dialog=import')
    const form = dialog(page, 'Import Licenses')
    await form.getByLabel('CSV').fill('License Key;expiresAt\nOLD-KEY-0001;2090-01-01\n')
    await form.getByRole('button', { name: 'Check First' }).click()
    const found = dialog(page, 'Check the Import')
    await expect(found).toContainText('Ignored columns: License Key')
    await expect(found).toContainText('Every license gets a random key')
    await found.getByRole('button', { name: 'Back' }).click()
    await form.getByLabel('CSV').fill('key;expiresAt;Customer\nOLD-KEY-0001;2090-01-01;Ann\n')
    await form.getByRole('button', { name: 'Check First' }).click()
    await expect(found).toContainText('Ignored columns: Customer')
    await expect(found).not.toContainText('random key')
  })

  test('keeps its text if the session expires in the second step', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await page.route('**/api/events', (route) => route.abort())
    await enter(page, vendor, '/licenses?dialog=import')
    const form = dialog(page, 'Import Licenses')
    await form.getByLabel('CSV').fill('expiresAt,note\n2090-01-01,typed for minutes\n')
    await form.getByRole('button', { name: 'Check First' }).click()
    const found = dialog(page, 'Check the Import')
    await expect(found).toContainText('1 license would be created')
    await vendor.call('POST', '/auth/logout')
    await found.getByRole('button', { name: 'Import 1 License' }).click()
    await expect(page).toHaveURL('/auth')
    await signIn(page, vendor)
    await expect(form.getByLabel('CSV')).toHaveValue(/typed for minutes/)
    await expect(page.locator('[data-sonner-toast]').getByText('Import Failed')).toHaveCount(0)
  })

  test('previews, then imports the valid rows', { tag: ['@full', '@phone-full'] }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const settings = { hwidLock: true, allowCustomLicenseKey: true }
    await vendor.call('PUT', `/apps/${app._id}`, { settings })
    const body = { app: app._id, expiresAt: inDays(30).toISOString(), key: 'TAKEN-KEY-1' }
    await vendor.call('POST', '/licenses', body)
    await enter(page, vendor, '/licenses')
    await moreAction(page, 'Import licenses')
    const form = dialog(page, 'Import Licenses')
    await expect(form).toContainText('At most 5,000 rows and 1 MB. Your plan allows 30 licenses per app.')
    await expectAccessible(page, 'import')
    const template = await download(page, () =>
      form.getByRole('button', { name: 'Download Template' }).click(),
    )
    expect(template.text).toContain('MY-OWN-KEY-0001')

    await form.getByRole('button', { name: 'Check First' }).click()
    await expect(form.getByLabel('CSV')).toHaveAttribute('aria-invalid', 'true')
    await form.getByLabel('CSV').fill('key\nA-KEY-000001')
    await form.getByRole('button', { name: 'Check First' }).click()
    await expect(form).toContainText('The first line must name the column expiresAt')

    const text =
      'expiresAt,key,note\n2090-12-31,NEW-KEY-1,first\n2090-12-31,TAKEN-KEY-1,\nsoon,,\n2090-12-31,,second\n'
    await form.locator('input[type=file]').setInputFiles({
      name: 'mine.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(text),
    })
    await expect(form.getByLabel('CSV')).toHaveValue(text)
    await form.getByRole('button', { name: 'Check First' }).click()

    const check = dialog(page, 'Check the Import')
    await expect(check).toContainText('2 licenses would be created, 1 skipped, 1 row has an error.')
    const found = check.locator('tbody').getByRole('row')
    await expect(found).toHaveCount(1)
    await expect(found).toContainText('expiresAt must be an ISO 8601 date')
    await choose(check, 'Rows', 'All rows (4)')
    await expect(found).toHaveText([
      /2.*NEW-KEY-1/s,
      /3.*The key exists already/s,
      /4.*Mistake/s,
      /5.*Random key/s,
    ])
    await expectAccessible(page, 'import, checked')
    expect((await vendor.call('GET', '/licenses')).pagination.total).toBe(1)

    await check.getByRole('button', { name: 'Back' }).click()
    await expect(form.getByLabel('CSV')).toHaveValue(text)
    await form.getByRole('button', { name: 'Check First' }).click()
    await check.getByRole('button', { name: 'Import 2 Licenses' }).click()
    await expectToast(page, 'Licenses Imported', '2 licenses created, 0 skipped.')
    const done = dialog(page, 'Licenses Imported')
    await expect(done.locator('tbody').getByRole('row')).toHaveText([/2.*NEW-KEY-1/s, /5.*second/s])
    await expectAccessible(page, 'import, done')
    const result = await download(page, () => done.getByRole('button', { name: 'Download Result' }).click())
    const { licenses } = await vendor.call('GET', '/licenses')
    expect(licenses).toHaveLength(3)
    for (const { key, note } of licenses) if (note) expect(result.text).toContain(key)
    await done.getByRole('button', { name: 'Done' }).click()
    await expect(rows(page)).toHaveCount(3)
  })

  test('marks the licenses that it bans, and shows its result even if nothing more can be loaded', {
    tag: ['@full', '@phone-full'],
  }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    await vendor.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
    await vendor.call('POST', '/licenses', { app: app._id, expiresAt: inDays(30), key: 'TAKEN-KEY-1' })
    await enter(page, vendor, '/licenses')
    await moreAction(page, 'Import licenses')
    const note = 'a long note '.repeat(12).trim()
    const lines = [`,TRUE,Charged back,${note}`, ',false,,', 'TAKEN-KEY-1,true,,']
    const csv = ['expiresAt,key,banned,banReason,note', ...lines.map((line) => `2090-01-01,${line}`)]
    await dialog(page, 'Import Licenses').getByLabel('CSV').fill(csv.join('\n'))
    await page.getByRole('button', { name: 'Check First' }).click()
    const shown = page.getByRole('dialog').locator('tbody').getByRole('row')
    await expect(shown).toHaveText([/Random key.*Banned/s, /^((?!Banned).)*$/s, /TAKEN((?!Banned).)*$/s])
    const [text, frame] = [await shown.getByText(note).boundingBox(), await shown.first().boundingBox()]
    expect(text!.x + text!.width).toBeLessThan(frame!.x + frame!.width - 8)

    await page.route('**/assets/**', (route) => route.abort())
    await page.getByRole('button', { name: 'Import 2 Licenses' }).click()
    const done = dialog(page, 'Licenses Imported')
    await expect(done.getByRole('button', { name: 'Download Result' })).toBeVisible()
    await expect(shown.getByText('Banned', { exact: true })).toHaveCount(1)
    const { licenses } = await vendor.call('GET', '/licenses')
    expect(licenses).toMatchObject([
      { banned: false },
      { banned: true, banReason: 'Charged back' },
      { banned: false, key: 'TAKEN-KEY-1' },
    ])
  })

  test('names the lines that expired after the check, and imports the others', { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor, '/licenses')
    await moreAction(page, 'Import licenses')
    const csv = 'expiresAt,note\nsoon,wrong\n2090-01-01,first\n2091-01-01,second\n'
    await dialog(page, 'Import Licenses').getByLabel('CSV').fill(csv)
    await page.getByRole('button', { name: 'Check First' }).click()
    const check = dialog(page, 'Check the Import')
    await expect(check).toContainText('2 licenses would be created, 1 row has an error.')
    await page.route('**/api/licenses/import', (route) =>
      route.continue({ postData: route.request().postData()?.replace('2091-01', '2001-01') }),
    )
    await check.getByRole('button', { name: 'Import 2 Licenses' }).click()
    await expectToast(
      page,
      'Nothing Was Imported',
      'Some rows can no longer be imported. They are listed with their lines: correct them, or import the other rows.',
    )
    await expect(check).toContainText('1 license would be created, 2 rows have errors.')
    await expect(check.locator('tbody').getByRole('row')).toHaveText([
      /2.*expiresAt must be/s,
      /4.*The expiry must be in the future/s,
    ])
    await check.getByRole('button', { name: 'Import 1 License' }).click()
    await expectToast(page, 'Licenses Imported', '1 license created, 0 skipped.')
    expect((await vendor.call('GET', '/licenses')).licenses).toMatchObject([{ note: 'first' }])
  })

  test("reports rows beyond the plan's limit before the import", async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createLicenses(await vendor.createApp(), 29)
    await enter(page, vendor, '/licenses')
    await moreAction(page, 'Import licenses')
    await dialog(page, 'Import Licenses').getByLabel('CSV').fill('expiresAt\n2090-01-01\n2090-01-01\n')
    await page.getByRole('button', { name: 'Check First' }).click()
    const check = dialog(page, 'Check the Import')
    await expect(check).toContainText('Your plan allows 30 licenses per app')
    await check.getByRole('button', { name: 'Import 1 License' }).click()
    await expectToast(page, 'Licenses Imported', '1 license created, 0 skipped.')
  })
})
