import { textsTo } from '../../apps/server/test/mailed.ts'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { test, trustMails } from '../mailing.ts'
import { enter, expectToast, part, row, Vendor, visit } from '../steps.ts'

test('a vendor turns mails to customers on, sees what was sent, and a customer unsubscribes by hand and by its mail program', async ({
  page,
  request,
  mails,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  trustMails(keyward)
  const app = await vendor.createApp('Tally')
  const emails = ['hand@customers.example', 'program@customers.example']
  const expiresAt = new Date(Date.now() + 2 * 86_400_000).toISOString()
  for (const customer of emails) await vendor.call('POST', '/licenses', { app: app._id, expiresAt, customer })

  await enter(page, vendor, `/apps/${app._id}?tab=mail`)
  const settings = part(page, 'Mails to Customers')
  await expect(settings.getByRole('switch', { name: 'A License Was Renewed' })).toBeChecked()
  await settings.getByRole('switch', { name: 'Before a License Ends' }).click()
  await expectToast(page, 'Mails to customers saved')
  const days = settings.getByLabel('Days Before the End')
  await expect(days).toHaveValue('14, 3')
  await days.fill('0')
  await days.blur()
  await expect(settings.getByText('Up to 4 different numbers from 1 to 90')).toBeVisible()
  await days.fill('7, 3')
  await settings.getByRole('button', { name: 'Save Days' }).click()
  await expect
    .poll(() => vendor.call('GET', `/apps/${app._id}/customer-mails`))
    .toMatchObject({
      endsSoonDays: [7, 3],
      renewed: true,
    })

  const texts = part(page, 'Texts of Mails')
  await texts.getByRole('combobox', { name: 'Mail' }).click()
  await page.getByRole('option', { name: 'License ends soon' }).click()
  await expect(
    part(page, 'Preview').getByText(/^As (hand|program)@customers\.example would get it/),
  ).toBeVisible()
  await expect(part(page, 'Preview').getByText(/your license for Tally ends on/)).toBeVisible()
  await expect(texts.getByText('{renew}', { exact: true })).toBeVisible()
  await expectStateAccessible(page, 'the mails to customers')

  const links = () =>
    emails.map((email) => /\S+\/api\/unsubscribe\/\S+/.exec(textsTo(mails, email)[0] ?? '')?.[0])
  await expect.poll(links).not.toContain(undefined)
  const [byHand = '', byProgram = ''] = links()
  await expect
    .poll(async () => (await vendor.call('GET', `/customer-mails?app=${app._id}&state=sent`)).mails.length)
    .toBe(2)
  await page.reload()
  await expect(part(page, 'What Customers Were Told').getByText('License ends soon: 3 days')).toHaveCount(2)

  const form = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
  expect((await fetch(byProgram, { method: 'POST', body: form })).status).toBe(200)
  const { customers } = await vendor.call('GET', '/customers?search=program@')
  await visit(page, `/customers/${customers[0]._id}`)
  const wanted = page.getByRole('switch', { name: 'Mails About Ends and Payments' })
  await expect(wanted).not.toBeChecked()
  await expect(row(page, 'License ends soon')).toContainText('Sent')
  await wanted.click()
  await expectToast(page, 'Customer Updated')
  await expect(wanted).toBeChecked()

  await page.goto(byHand)
  await expect(page.getByRole('heading', { name: 'Unsubscribe' })).toBeVisible()
  await expectAccessible(page, 'the page that unsubscribes')
  await page.getByRole('button', { name: 'Unsubscribe' }).click()
  await expect(page.getByRole('status')).toHaveText('You get no more of these mails.')
  expect((await vendor.call('GET', '/customers?search=hand@')).customers[0].mails).toBe(false)
})
