import type { Page } from '@playwright/test'
import { textsTo } from '../../apps/server/test/mailed.ts'
import { expect } from '../keyward.ts'
import { test, trustMails } from '../mailing.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import {
  dialog,
  heading,
  inDays,
  keyPrefix,
  openPalette,
  Program,
  row,
  rows,
  shownDate,
  signIn,
} from '../steps.ts'

/** Counts clicks; typing and the keys of the keyboard are no clicks. */
async function countClicks(page: Page) {
  await page.addInitScript(`
    addEventListener('click', ({ detail }) => {
      if (detail > 0) sessionStorage.setItem('clicks', Number(sessionStorage.getItem('clicks')) + 1)
    }, true)
  `)
  return {
    clicks: () => page.evaluate(`Number(sessionStorage.getItem('clicks'))`),
    restart: () => page.evaluate(`sessionStorage.removeItem('clicks')`),
  }
}

/** Opens an object from the palette with the keyboard alone. */
async function find(page: Page, text: string, title: string) {
  await openPalette(page)
  await page.keyboard.type(text)
  const option = page.getByRole('option', { name: new RegExp(`^${title}`) })
  await expect(option).toBeVisible()
  while ((await option.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(heading(page, title)).toBeVisible()
}

test('the most common jobs of a vendor take as few clicks as they should', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  trustMails(keyward)
  const makeType = async (name: string) =>
    (await vendor.call('POST', `/apps/${app._id}/license-types`, { name, term: 'forever', features: [name] }))
      .licenseType
  const basic = await makeType('Basic')
  await makeType('Pro')
  const reseller = await createReseller(vendor, app, 60)
  const [license] = await vendor.createLicenses(app, 3, 30)
  const { license: typed } = await vendor.call('POST', '/licenses', { app: app._id, type: basic._id })
  const program = await Program.start(request, app)
  const user = { username: 'marguerite', password: 'end-user-password', email: 'm.dupont@example.net' }
  const registered = await program.call('POST', '/register', {
    ...{ ...user, licenseKey: license!.key, hwid: 'machine-1' },
  })
  expect(registered.status, JSON.stringify(registered.body)).toBeLessThan(300)
  await program.login('marguerite', 'machine-2')
  const title = keyPrefix(license!.key)

  const { clicks, restart } = await countClicks(page)

  await test.step('sell by hand, from sign-in to the mail in the inbox: 4', async () => {
    await page.goto('/auth')
    await signIn(page, vendor)
    await page.getByRole('button', { name: 'New Sale' }).click()
    const sale = dialog(page, 'New Sale')
    await sale.getByLabel('Customer').fill('first@customers.example')
    await sale.getByRole('radio', { name: /^Basic/ }).check()
    await sale.getByRole('button', { name: 'Sell and Mail' }).click()
    await expect.poll(() => textsTo(mails, 'first@customers.example').length).toBe(1)
    expect(await clicks()).toBe(4)
  })

  await test.step('find a customer by e-mail: typing alone', async () => {
    await restart()
    await page.goto('/dashboard')
    await find(page, 'dupont@', 'marguerite')
    expect(await clicks()).toBe(0)
  })

  await test.step('see why a program was refused: at most 2', async () => {
    await restart()
    await find(page, 'marguerite', 'marguerite')
    await page.getByRole('button', { name: 'Why?' }).first().click()
    await expect(page.getByRole('dialog')).toContainText('The device was not accepted')
    expect(await clicks()).toBeLessThanOrEqual(2)
    await page.keyboard.press('Escape')
  })

  await test.step('free all devices: 2', async () => {
    await restart()
    await page.getByRole('button', { name: 'Free All' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Free All' }).click()
    await expect(page.getByText('No devices')).toBeVisible()
    expect(await clicks()).toBe(2)
  })

  await test.step('extend by a month: 2', async () => {
    await restart()
    await page.goto(`/licenses/${license!._id}`)
    await page.getByRole('button', { name: 'Extend License' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Extend/ })
      .click()
    await expect(page.getByRole('dialog')).toBeHidden()
    await expect(page.getByRole('main')).not.toContainText(`Expires${shownDate(inDays(30))}`)
    expect(await clicks()).toBe(2)
  })

  await test.step('ban a license: 3', async () => {
    await restart()
    await page.getByRole('button', { name: `Actions for ${title}` }).click()
    await page.getByRole('menuitem', { name: 'Ban License' }).click()
    await dialog(page, 'Ban License').getByRole('button', { name: 'Ban License' }).click()
    await expect(page.getByRole('main')).toContainText('Banned')
    expect(await clicks()).toBe(3)
  })

  await test.step('change the type of a license: 3', async () => {
    await page.goto(`/licenses/${typed._id}`)
    await restart()
    await page.getByRole('button', { name: /^Actions for / }).click()
    await page.getByRole('menuitem', { name: 'Change Type' }).click()
    const change = dialog(page, 'Change License Type')
    await change.getByRole('combobox', { name: 'License Type' }).press('Enter')
    await page.getByRole('option', { name: 'Pro', exact: true }).press('Enter')
    await change.getByRole('button', { name: 'Change Type' }).click()
    await expect(change).toBeHidden()
    await expect(page.getByRole('main')).toContainText('Pro')
    expect(await clicks()).toBe(3)
  })

  await test.step('make 50 keys for a reseller: 3', async () => {
    await page.goto('/resellers')
    await restart()
    await row(page, reseller.email).getByRole('link', { name: reseller.email }).click()
    await page.getByRole('button', { name: 'Generate Keys' }).click()
    await dialog(page, 'Generate License').getByLabel('Amount').fill('50')
    await dialog(page, 'Generate License').getByRole('button', { name: 'Generate License' }).click()
    await expect(dialog(page, 'Licenses Generated')).toContainText('50 keys')
    expect(await clicks()).toBe(3)
  })

  await test.step("see this week's activations from the dashboard: 1", async () => {
    await page.goto('/dashboard')
    await restart()
    await page.getByRole('link', { name: 'Activations, last 7 days' }).click()
    await expect(heading(page, 'Activity')).toBeVisible()
    await expect(page.getByText(/^1 event, /)).toBeVisible()
    await expect(rows(page)).toContainText('Registered')
    await expect(rows(page)).toContainText('marguerite')
    expect(await clicks()).toBe(1)
  })

  await test.step('export the licenses: 2', async () => {
    await page.goto('/licenses')
    await restart()
    await page.getByRole('button', { name: 'More actions' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: /CSV/ }).click(),
    ])
    expect(file.suggestedFilename()).toMatch(/\.csv$/)
    expect(await clicks()).toBe(2)
  })
})
