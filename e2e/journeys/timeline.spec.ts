import { DatabaseSync } from 'node:sqlite'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { dialog, enter, heading, Program, row, Vendor } from '../steps.ts'

test('a license tells who changed it and why programs were refused, in one order', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await vendor.createLicenses(app, 1, 20)
  const [other] = await vendor.createLicenses(app, 1, 20)
  const { licenses } = await vendor.call('GET', '/licenses')
  const { _id, key } = licenses.find((license: { _id: string }) => license._id !== other?._id)
  await vendor.call('PATCH', `/licenses/${_id}/toggle-ban`, { is_banned: true, reason: 'fraud' })
  const program = await Program.start(request, app)
  await program.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })
  await vendor.call('PATCH', `/licenses/${_id}/toggle-ban`, { is_banned: false })
  await vendor.call('PUT', `/licenses/${_id}`, { note: 'for Erik' })
  await vendor.call('POST', '/licenses/bulk', { action: 'extend', ids: [_id, other?._id], days: 5 })

  await enter(page, vendor, `/licenses/${_id}`)
  await expect(page.getByText('History', { exact: true })).toBeVisible()
  const items = page.getByRole('main').getByRole('listitem')
  await expect(items.filter({ hasText: 'Refused: License banned' })).toBeVisible()
  const order = [
    'Licenses extended',
    'License changed',
    'License unbanned',
    'Refused: License banned',
    'License banned',
    'Licenses created',
  ]
  await expect(async () => {
    const texts = (await items.allInnerTexts()).join('\n')
    const places = order.map((text) => texts.indexOf(`${text}\n`))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  }).toPass()
  await expect(items.filter({ hasText: 'Licenses extended' })).toContainText('Days: 5')
  await expect(items.filter({ hasText: 'Licenses created' })).toContainText('Owner')
  await expect(items.filter({ hasText: 'for Erik' })).toContainText('Note: none → for Erik')
  await expect(items.filter({ hasText: 'Reason: fraud' })).toContainText('Owner')
  await expectStateAccessible(page, 'a license with its history')
  await items.filter({ hasText: 'Refused' }).getByRole('button', { name: 'Why?' }).click()
  await expect(dialog(page, 'The license was banned')).toBeVisible()
  await page.goBack()
  await expect(heading(page, key.slice(0, 16))).toBeVisible()
})

test('an extension from the explanation of a refusal can be undone', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1, 20)
  const database = new DatabaseSync(`${keyward.dataDir}/keyward.db`, { timeout: 5000 })
  database.prepare('update licenses set expires_at = ? where id = ?').run(Date.now() - 864e5, license!._id)
  database.close()
  const program = await Program.start(request, app)
  await program.call('POST', '/license', { licenseKey: license!.key, hwid: 'pc-1' })

  await enter(page, vendor, `/licenses/${license!._id}`)
  const refused = page.getByRole('listitem').filter({ hasText: 'Refused' })
  await refused.getByRole('button', { name: 'Why?' }).click()
  await page.getByRole('button', { name: 'Extend by 30 days' }).click()
  await expect(page.getByText('Changed. The program can try again.')).toBeVisible()
  const ends = async () => (await vendor.call('GET', `/licenses/${license!._id}`)).license.expiresAt
  expect(Date.parse(await ends())).toBeGreaterThan(Date.now() + 29 * 864e5)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText('1 license restored.')).toBeVisible()
  expect(Date.parse(await ends())).toBeLessThan(Date.now())
})

test('an app tells who changed it and what belongs to it, and leads to all its records', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await vendor.createLicenses(app)
  const type = { name: 'Studio', term: 'forever' }
  const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, type)
  await vendor.call('PUT', `/license-types/${licenseType._id}`, { devices: 3 })
  await vendor.call('POST', `/apps/${app._id}/releases`, { version: '2.0.0', releasedAt: '2026-01-01' })
  await vendor.call('PUT', `/apps/${app._id}`, { settings: { leaseHours: 5 } })

  await enter(page, vendor, `/apps/${app._id}`)
  await page.getByRole('tab', { name: 'History' }).click()
  await expect(page).toHaveURL(`/apps/${app._id}?tab=history`)
  const items = page.getByRole('tabpanel').getByRole('listitem')
  await expect(items).toHaveText([
    /^App changedLease hours: \d+ → 5/,
    // The release caused it.
    /^App changedVersion: 1\.0\.0 → 2\.0\.0/,
    /^Release added: 2\.0\.0/,
    /^License type changed: Studio.*Devices: 1 → 3/,
    /^License type created: Studio/,
    /^App created/,
  ])
  for (const item of await items.all()) await expect(item).toContainText('Owner')
  await page.reload()
  await expect(page.getByRole('tab', { name: 'History' })).toBeInViewport({ ratio: 0.9 })
  await expectAccessible(page, 'the history of an app')
  await page.getByRole('link', { name: 'All Records' }).click()
  await expect(page).toHaveURL(`/audit?app=${app._id}&actor=all`)
  await expect(row(page, 'Licenses created')).toBeVisible()
})
