import { textsTo } from '../../apps/server/test/mailed.ts'
import { expectAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { test } from '../mailing.ts'
import { dialog, enter, expectToast, part, Vendor } from '../steps.ts'

test('a vendor writes the mail to buyers with a preview, and gets a test', {
  tag: ['@full', '@phone'],
}, async ({ page, request, mails }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await enter(page, vendor, `/apps/${app._id}?tab=mail`)
  const view = part(page, 'Texts of Mails')
  const preview = part(page, 'Preview')
  const save = view.getByRole('button', { name: 'Save Mail' })
  const test = view.getByRole('button', { name: 'Send Me a Test' })
  await expect(preview.getByText('Your license for Tally')).toBeVisible()
  await expect(preview.getByText('TEST-XXXX-XXXX-XXXX')).toBeVisible()
  await expectAccessible(page, 'the mail to buyers')

  await view.getByLabel('Subject').fill('{app} is yours')
  await expect(preview.getByText('Tally is yours')).toBeVisible()
  const text = view.getByLabel('Text', { exact: true }).first()
  await text.fill('Hello {name}, here is {license}')
  await text.blur()
  await expect(view.getByText('Unknown placeholder {license}.')).toBeVisible()
  await text.fill('Hello {name}, here is {key}')
  await expect(preview.getByText('Hello Ada Lovelace, here is TEST-XXXX-XXXX-XXXX')).toBeVisible()
  await expect(test).toBeDisabled()
  await view
    .getByRole('textbox', { name: 'HTML' })
    .fill('<h1>For {name}</h1><p>{key}</p><a href="https://tally.example">Tally</a>')
  await preview.getByRole('tab', { name: 'HTML' }).click()
  const frame = page.frameLocator('iframe[title="HTML of the mail"]')
  await expect(frame.getByRole('heading', { name: 'For Ada Lovelace' })).toBeVisible()
  await expect(frame.getByText('TEST-XXXX-XXXX-XXXX')).toBeVisible()
  await expect(page.locator('iframe[title="HTML of the mail"]')).toHaveAttribute('sandbox', '')
  await view.getByLabel('Answers go to').fill('help@tally.example')
  await save.click()
  await expectToast(page, 'Mail updated successfully')

  await test.click()
  await expectToast(page, 'Please confirm your email address first, under Settings, Notifications.')
  const confirm = (body: object) => vendor.call('POST', '/settings/notifications/confirm-email', body)
  await confirm({})
  const tokens = () =>
    textsTo(mails, vendor.email).flatMap((sent) => /notifications#(\S+)/.exec(sent)?.[1] ?? [])
  await expect.poll(tokens).not.toEqual([])
  await confirm({ token: tokens()[0] })
  await test.click()
  await expectToast(page, 'The test is on its way to you')
  const received = () => textsTo(mails, vendor.email).filter((sent) => sent.includes('TEST-XXXX'))
  await expect.poll(received).toHaveLength(1)
  expect(received()[0]).toContain('<h1>For Ada Lovelace</h1>')
  await page.reload()
  await expect(view.getByLabel('Subject')).toHaveValue('{app} is yours')
})

test('a vendor writes a mail in another language, and returns to the default', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await enter(page, vendor, `/apps/${app._id}?tab=mail`)
  const view = part(page, 'Texts of Mails')
  const language = view.getByRole('combobox', { name: 'Language' })
  await language.click()
  await page.getByRole('combobox', { name: 'Search: Language' }).fill('german')
  await page.getByRole('option', { name: 'German (de)', exact: true }).click()
  const subject = view.getByLabel('Subject')
  await expect(subject).toHaveValue('Ihre Lizenz für {app}')
  await subject.fill('{app} gehört Ihnen')
  await view.getByRole('button', { name: 'Save Mail' }).click()
  await expectToast(page, 'Mail updated successfully')
  expect((await vendor.call('GET', `/apps/${app._id}/mail?locale=de-AT`)).mail.subject).toBe(
    '{app} gehört Ihnen',
  )
  await view.getByRole('button', { name: 'Remove German' }).click()
  await dialog(page, 'Remove the mail in German?').getByRole('button', { name: 'Remove Mail' }).click()
  await expectToast(page, 'Mail reset to the default')
  await expect(subject).toHaveValue('Ihre Lizenz für {app}')

  await subject.fill('Mine')
  await vendor.call('PUT', `/apps/${app._id}/mail`, { locale: 'de', subject: 'Theirs', text: '{key}' })
  await view.getByRole('button', { name: 'Save Mail' }).click()
  await expectToast(
    page,
    'Someone else changed this mail in the meantime. Nothing was saved. Open it again to see the current text.',
  )
  await view.getByRole('button', { name: 'Cancel' }).click()
  await expect(subject).toHaveValue('Theirs')
  await expect(language).toHaveText('German (de)')
})
