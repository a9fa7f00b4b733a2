import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { enter, heading, keyPrefix, Program, row, visit } from '../steps.ts'

test.use({ locale: 'de-DE', timezoneId: 'Europe/Berlin' })

test('numbers and dates have English formats in every browser, hours count to 24, and a bare date is that date', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 10_000)
  await enter(page, vendor, '/resellers')
  await expect(heading(page, 'Resellers')).toBeVisible()
  await expect(row(page, reseller.email)).toContainText('0/10,000')
  await expect(row(page, reseller.email)).toContainText(/[A-Z][a-z]{2} \d{2}, \d{4}/)

  const { licenses } = await vendor.call('POST', '/licenses', {
    ...{ app: app._id, count: 1, expiresAt: '2027-12-31' },
  })
  await visit(page, '/licenses')
  await expect(row(page, keyPrefix(licenses[0].key))).toContainText('Dec 31, 2027')
  await Program.start(request, app)
  await visit(page, '/activity')
  await expect(page.getByRole('main').locator('tbody time').first()).toHaveAttribute(
    'title',
    /^[A-Z][a-z]{2} \d{2}, \d{4}, ([01]\d|2[0-3]):\d{2}:\d{2} GMT\+[12], /,
  )
})
