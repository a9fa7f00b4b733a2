import { textsTo } from '../../apps/server/test/mailed.ts'
import { expectStateAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { mailedLink, test, trustMails } from '../mailing.ts'
import { createReseller, enterPortal, Seller } from '../reseller.ts'
import { choose, enter, expectToast, makePremium, Vendor, visit } from '../steps.ts'

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('a vendor gives itself a face, which its customers see in mails, on their page, and its resellers in the portal', {
  tag: ['@full', '@phone'],
}, async ({ page, request, mails, keyward }) => {
  const email = 'face@buyers.example'
  const vendor = await Vendor.signUp(request, 'Mara Lindqvist')
  makePremium(keyward, vendor, 365)
  trustMails(keyward)
  const app = await vendor.createApp('Tally')
  const settings = { customerPage: true, buyUrl: 'https://nordlys.example/buy' }
  await vendor.call('PUT', `/apps/${app._id}`, { settings })
  await vendor.call('POST', '/licenses', { app: app._id, expiresAt: '2099-01-01', customer: email })

  await enter(page, vendor, '/settings')
  await page.getByRole('link', { name: 'Open Profile' }).click()
  const card = page.getByRole('region', { name: 'Business Profile' })
  await card.getByLabel('Business name').fill('Nordlys')
  await card.getByLabel('Help for customers').fill('nordlys.example')
  await card
    .getByLabel('Logo')
    .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('<svg/>') })
  await expect(card.getByText('This file is no picture.', { exact: false })).toBeVisible()
  await card.getByLabel('Logo').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: picture })
  await expect(card.getByRole('img', { name: 'The logo' })).toBeVisible()
  await card.getByRole('button', { name: 'Save Profile' }).click()
  await expect(
    card.getByText('Please enter an email address, or a web address', { exact: false }),
  ).toBeVisible()
  await card.getByLabel('Help for customers').fill('help@nordlys.example')
  await expectStateAccessible(page, 'the profile of a vendor')
  await card.getByRole('button', { name: 'Save Profile' }).click()
  await expectToast(page, 'Profile updated successfully')

  await visit(page, `/apps/${app._id}?tab=customers`)
  const shown = page.frameLocator('iframe[title="Customer’s page"]')
  const mail = page.getByRole('region', { name: 'Mail to buyers' })
  await expect(shown.getByRole('contentinfo')).toContainText('Nordlyshelp@nordlys.example')
  await expect(mail).toContainText('FromNordlys')
  await choose(page, 'Language', 'German')
  await expect(shown.getByRole('heading', { name: 'Anmelden' })).toBeVisible()
  await expect(mail).toContainText('Ihre Lizenz für Tally')
  await page.getByLabel('Business name').fill('Tally Makers')
  await expect(shown.getByRole('contentinfo')).toContainText('Tally Makers')
  await expect(mail).toContainText('FromTally Makers')
  await expectStateAccessible(page, 'what customers see of an app')
  await page.getByRole('button', { name: 'Save Profile' }).click()
  await expectToast(page, 'Profile updated successfully')

  await page.goto(`/u/${app.appId}?language=en`)
  await expect(page.getByRole('contentinfo')).toHaveText(
    'Tally Makershelp@nordlys.examplenordlys.example/buy',
  )
  const logo = page.locator('header img')
  await expect
    .poll(() => logo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
    .toBe(1)
  await page.getByText('Email link').click()
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  expect(await mailedLink(mails, email)).toContain(`/u/${app.appId}#`)
  const [sent] = mails.received.filter(({ to }) => to.includes(email))
  expect(sent?.head).toContain('From: Tally Makers <')
  expect(sent?.head).toContain('Reply-To: help@nordlys.example')
  expect(textsTo(mails, email).join()).toContain('cid:logo@keyward')
  expect(sent?.body).toContain('Content-Type: image/png; name=logo.png')

  await enterPortal(page, await Seller.signIn(request, await createReseller(vendor, app)))
  await expect(page.getByRole('contentinfo')).toContainText(
    'Tally Makershelp@nordlys.examplenordlys.example/buy',
  )
  await expect(page.getByText('Mara Lindqvist')).toHaveCount(0)
})
