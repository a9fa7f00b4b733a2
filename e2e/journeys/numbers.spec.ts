import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { enter, heading, row } from '../steps.ts'

test.use({ locale: 'de-DE' })

test('numbers and dates have English formats in every browser', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const reseller = await createReseller(vendor, app, 10_000)
  await enter(page, vendor, '/resellers')
  await expect(heading(page, 'Resellers')).toBeVisible()
  await expect(row(page, reseller.email)).toContainText('0/10,000')
  await expect(row(page, reseller.email)).toContainText(/[A-Z][a-z]{2} \d{2}, \d{4}/)
})
