import { expect, test } from '../keyward.ts'
import { dialog, enter, keyPrefix, Program, rowAction, Vendor } from '../steps.ts'

test('pausing an end user, and banning or deleting its license, says until when its program runs offline', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Atlas')
  const [license] = await vendor.createLicenses(app, 1, 300)
  const program = await Program.start(request, app)
  await program.register('erik', license!, 'machine-one')
  const lease = await program.call('POST', '/lease', { hwid: 'machine-one' })
  expect(lease.status).toBe(200)
  const sentence =
    /A program of erik can go on running without a connection until \w+ \d+, \d{4}.* at the latest\./
  const toasts = page.locator('[data-sonner-toast]')

  await enter(page, vendor, '/users')
  await rowAction(page, 'erik', 'Pause Subscription')
  await expect(toasts.filter({ hasText: 'Subscription Paused' })).toContainText(sentence)

  await page.goto('/licenses')
  await rowAction(page, keyPrefix(license!.key), 'Ban License')
  await dialog(page, 'Ban License').getByRole('button', { name: 'Ban License' }).click()
  await expect(toasts.filter({ hasText: 'License Banned' })).toContainText(sentence)
  await rowAction(page, keyPrefix(license!.key), 'Delete License')
  await expect(dialog(page, 'Delete License')).toContainText(sentence)
})
