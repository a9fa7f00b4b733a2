import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { test, trustMails } from '../mailing.ts'
import { dialog, enter, expectToast, Program, part, Vendor } from '../steps.ts'

test('an app shows its versions in use, and a security fix whom it has not reached', {
  tag: ['@full', '@phone'],
}, async ({ page, request, mails, keyward }) => {
  const vendor = await Vendor.signUp(request)
  trustMails(keyward)
  const app = await vendor.createApp('Atlas')
  const customer = 'ada@buyers.example'
  const versions = ['1.0.0', '1.0.0', '1.1.0']
  for (const [at, version] of versions.entries()) {
    const body = { app: app._id, expiresAt: null, ...(at === 0 && { customer }) }
    const { license } = await vendor.call('POST', '/licenses', body)
    const program = await Program.start(request, { ...app, version })
    await program.call('POST', '/license', { licenseKey: license.key, hwid: `pc-${at}` })
  }
  const security = { severity: 'high', affects: [{ before: '1.1.0' }], summary: 'Reads files of others' }
  const fix = { version: '1.1.0', releasedAt: new Date().toISOString(), security }
  await vendor.call('POST', `/apps/${app._id}/releases`, fix)

  await enter(page, vendor, `/apps/${app._id}?tab=releases`)
  const inUse = part(page, 'Versions in Use')
  await expect(inUse.getByRole('listitem')).toHaveText([
    /1\.1\.0.*1 device \(33%\)/,
    /1\.0\.0.*2 devices \(67%\)/,
  ])
  await expectStateAccessible(page, 'versions in use')

  await page.getByRole('button', { name: 'Details of 1.1.0' }).click()
  const affected = part(page, 'Affected devices of 1.1.0')
  await expect(affected.getByText('2 devices').first()).toBeVisible()
  await affected.getByRole('button', { name: 'Affected Customers' }).click()
  const customers = dialog(page, 'Customers whom 1.1.0 repairs')
  await expect(customers.getByRole('listitem')).toHaveText(/ada@buyers\.example.*1 device.*not mailed/)
  const download = page.waitForEvent('download')
  await customers.getByRole('button', { name: 'Export CSV' }).click()
  expect((await download).suggestedFilename()).toMatch(/^exposed-customers-.*\.csv$/)
  await customers.getByRole('button', { name: 'Close' }).first().click()

  await affected.getByRole('button', { name: 'Notify Customers' }).click()
  const question = dialog(page, 'Mail customers about 1.1.0?')
  await expect(question.getByRole('status')).toHaveText(
    '1 customer will be mailed. Nobody can be mailed about 1 affected device without a customer.',
  )
  await expectAccessible(page, 'notify')
  await question.getByRole('button', { name: 'Mail 1 Customer' }).click()
  await expectToast(page, 'Mails queued')
  await expect.poll(() => mails.received.filter(({ to }) => to.includes(customer)).length).toBe(1)

  await expect(affected.getByText('1 customer')).toBeVisible()

  const evidence = page.waitForEvent('download')
  await affected.getByRole('button', { name: 'Download Evidence' }).click()
  expect((await evidence).suggestedFilename()).toBe('evidence-1.1.0.jws')
})
