import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor, Seller } from '../reseller.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  fact,
  heading,
  keyPrefix,
  openPalette,
  readClipboard,
  row,
  visit,
} from '../steps.ts'

test('makes 50 keys for a reseller in three clicks from the list, and copies them all', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 60)
  await enter(page, vendor, '/resellers')

  let clicks = 0
  const click = async (target: ReturnType<typeof page.getByRole>) => {
    await target.click()
    clicks += 1
  }
  await click(row(page, reseller.email).getByRole('link', { name: reseller.email }))
  await expect(heading(page, reseller.email)).toBeVisible()
  await click(page.getByRole('button', { name: 'Generate Keys' }))
  const form = dialog(page, 'Generate License')
  await expect(form).toContainText('They count against its quota')
  await expect(form.getByText('60 left')).toBeVisible()
  await expect(form.getByRole('combobox', { name: 'Application' })).toBeDisabled()
  await expect(form.getByRole('combobox', { name: 'For reseller' })).toHaveCount(0)
  await form.getByLabel('Amount').fill('50')
  await click(form.getByRole('button', { name: 'Generate License' }))
  const result = dialog(page, 'Licenses Generated')
  await expect(result).toContainText('50 keys are ready to hand out. The reseller finds them in its portal.')
  expect(clicks).toBe(3)

  await result.getByRole('button', { name: 'Copy all license keys' }).click()
  const copied = (await readClipboard(page)).split('\n')
  const { licenses } = await (await Seller.signIn(request, reseller)).call('GET', '/licenses')
  expect(copied.toSorted()).toEqual(licenses.map(({ key }: { key: string }) => key).toSorted())
  await result.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('main').locator('dl').first()).toHaveText(
    /50Used10Left60Limit|Used50Left10Limit60/,
  )

  await page.getByRole('button', { name: 'Generate Keys' }).click()
  await form.getByLabel('Amount').fill('11')
  await form.getByRole('button', { name: 'Generate License' }).click()
  await expectToast(page, 'Generation Failed', "The reseller's quota has room for 10 more license(s)")
})

test('the page of a reseller tells who generated its keys, itself or the vendor', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 60)
  const expiresAt = new Date(Date.now() + 864e5).toISOString()
  const seller = await Seller.signIn(request, reseller)
  await seller.call('POST', '/licenses', { count: 3, expiresAt })
  await vendor.call('POST', '/licenses', { app: app._id, reseller: reseller._id, count: 2, expiresAt })
  await enter(page, vendor, `/resellers/${reseller._id}`)
  const items = page.getByRole('main').getByRole('listitem')
  const created = items.filter({ hasText: 'Licenses created' })
  await expect(created).toHaveCount(2)
  await expect(created.filter({ hasText: 'Count: 2' })).toContainText('Owner')
  await expect(created.filter({ hasText: 'Count: 3' })).toContainText(reseller.email)
  await expect(items.filter({ hasText: 'Reseller created' })).toContainText(`App: ${app.name}`)
})

test('the page of a reseller has its sessions and all actions of the list', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 5)
  await enter(page, vendor, `/resellers/${reseller._id}`)
  await expect(page.getByText('Not signed in anywhere.')).toBeVisible()
  const seller = await Seller.signIn(request, reseller)
  await page.reload()
  await expect(page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')).toContainText('127.0.0.1')

  const act = async (name: string) => {
    await page.getByRole('button', { name: `Actions for ${reseller.email}` }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await page.getByRole('button', { name: 'Sign Out Everywhere' }).click()
  await dialog(page, 'Sign Out Everywhere').getByRole('button', { name: 'Sign Out' }).click()
  await expectToast(page, 'The reseller has been signed out everywhere.')
  await expect(page.getByText('Not signed in anywhere.')).toBeVisible()
  await expect(seller.call('GET', '/profile')).rejects.toThrow('401')

  await act('Edit License Limit')
  await dialog(page, 'Edit Reseller License Limit').getByLabel('License Limit').fill('0')
  await page.getByRole('button', { name: 'Update Limit' }).click()
  await expect(page.getByRole('button', { name: 'Generate Keys' })).toBeDisabled()

  await act('Suspend')
  await dialog(page, 'Suspend Reseller').getByRole('button', { name: 'Suspend' }).click()
  await expect(page.getByText('Suspended', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Generate Keys' })).toHaveCount(0)
  await act('Resume')
  await expect(page.getByRole('button', { name: 'Generate Keys' })).toBeVisible()

  await act('Delete Reseller')
  const question = dialog(page, 'Delete Reseller')
  await question.getByRole('textbox').fill(reseller.email)
  await question.getByRole('button', { name: 'Delete Reseller' }).click()
  await expectToast(page, 'Reseller has been permanently deleted.')
  await expect(heading(page, 'Resellers')).toBeVisible()
  await visit(page, `/resellers/${reseller._id}`)
  await expect(page.getByText('This reseller does not exist')).toBeVisible()
})

test('a license is generated for a reseller from the list of licenses, and leads to its page', async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const { email, _id } = await createReseller(vendor, app, 5)
  const away = await createReseller(vendor, app, 5)
  await vendor.call('PUT', `/resellers/${away._id}`, { active: false })
  await enter(page, vendor, '/licenses?dialog=generate')
  const form = dialog(page, 'Generate License')
  await form.getByRole('combobox', { name: 'For reseller' }).click()
  await expect(page.getByRole('option')).toHaveText(['No reseller', `${email} (5 left)`])
  await page.keyboard.press('Escape')
  await choose(page, 'For reseller', `${email} (5 left)`)
  await form.getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated')).toContainText('The reseller finds it in its portal.')
  await page.getByRole('button', { name: 'Done' }).click()

  const { licenses } = await vendor.call('GET', '/licenses')
  const listed = row(page, keyPrefix(licenses[0].key))
  await expect(listed.getByRole('link', { name: email })).toHaveAttribute('href', `/resellers/${_id}`)
  await visit(page, `/licenses/${licenses[0]._id}`)
  await fact(page, 'Reseller').getByRole('link', { name: email }).click()
  await expect(heading(page, email)).toBeVisible()
  await openPalette(page)
  await page.getByRole('combobox').fill(email)
  await page.getByRole('option', { name: new RegExp(`^${email}`) }).click()
  await expect(page).toHaveURL(`/resellers/${_id}`)
})

test('the page of a reseller is accessible and fits the screen', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 10)
  await (await Seller.signIn(request, reseller)).generate(8)
  await enter(page, vendor, `/resellers/${reseller._id}`)
  await expect(heading(page, reseller.email)).toBeVisible()
  await expectAccessible(page, 'the page of a reseller')
  await page.getByRole('button', { name: 'Generate Keys' }).click()
  await expect(dialog(page, 'Generate License')).toBeVisible()
  await expectAccessible(page, 'generating for a reseller')
})
