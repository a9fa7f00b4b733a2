import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  heading,
  Program,
  part,
  readClipboard,
  Vendor,
  visit,
} from '../steps.ts'

test('a vendor sets links with what each shop needs, and programs and customers get them', async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await vendor.call('PUT', `/apps/${app._id}`, { settings: { customerPage: true } })
  const type = { term: 'first_use', duration: { value: 1, unit: 'years' } }
  const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, {
    ...type,
    name: 'Pro',
  })
  await vendor.call('POST', `/apps/${app._id}/license-types`, { ...type, name: 'Team' })
  const { license } = await vendor.call('POST', '/licenses', { app: app._id, type: licenseType._id })

  await enter(page, vendor, `/apps/${app._id}?tab=types`)
  await page.getByRole('button', { name: 'Links of Pro' }).click()
  const form = dialog(page, 'Links of Pro')
  await form.getByLabel('Renew Link').fill('http://buy.stripe.com/pro')
  await form.getByLabel('Buy Link').fill('https://pay.paddle.io/checkout/hsc_1')
  await expect(form.getByText('Please enter a web address that starts with https://')).toBeVisible()
  await expect(form.getByText('Paddle returns no reference')).toBeVisible()
  await form.getByLabel('Buy Link').fill('https://shop.example.com/pro')
  await form.getByLabel('Renew Link').fill('https://buy.stripe.com/pro')
  await form.getByRole('button', { name: 'Add It to the Renew Link' }).click()
  await expect(form.getByLabel('Renew Link')).toHaveValue(
    'https://buy.stripe.com/pro?client_reference_id={reference}',
  )
  await form.getByRole('button', { name: 'Add an Upgrade' }).click()
  await choose(form, 'Becomes', 'Team')
  await form.getByLabel('Name of the link').fill('More seats')
  await form.getByLabel('Upgrade Link').fill('https://me.gumroad.com/l/team')
  await form.getByLabel('Paid months until it stays for ever').fill('12')
  await expect(form.getByText('Tally lists no releases yet')).toBeVisible()
  const preview = part(page, 'What a customer gets')
  await expect(preview).toContainText(/Renew.*pro\?client_reference_id=kwr_/)
  await expect(preview).toContainText(/More seats.*team\?reference=kwr_/)
  await expectAccessible(page, 'links of a type')
  await form.getByRole('button', { name: 'Save Links' }).click()
  await expectToast(page, 'Links saved')

  await visit(page, `/apps/${app._id}?tab=settings`)
  await page.getByText('Shop', { exact: true }).click()
  await page.getByLabel('Shop Link').fill('https://shop.example.com')
  await page.getByRole('button', { name: 'Save Settings' }).click()
  await expectToast(page, 'App settings updated successfully')
  expect((await vendor.call('GET', `/apps/${app._id}`)).app.settings.buyUrl).toBe('https://shop.example.com')

  await visit(page, `/licenses/${license._id}`)
  await page.getByRole('button', { name: 'Copy reference for shops' }).click()
  const reference = await readClipboard(page)
  expect(reference).toMatch(/^kwr_/)
  await visit(page, `/licenses?search=${reference}`)
  await expect(page.getByRole('row').filter({ hasText: 'Pro' })).toBeVisible()

  const renew = `https://buy.stripe.com/pro?client_reference_id=${reference}`
  const program = await Program.start(request, app)
  const { body } = await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
  expect(body.data.user.links).toEqual({
    renew,
    buy: `https://shop.example.com/pro?reference=${reference}`,
    upgrades: [{ name: 'More seats', url: `https://me.gumroad.com/l/team?reference=${reference}` }],
  })
  await page.goto(`/u/${app.appId}`)
  await page.getByLabel('License key', { exact: true }).last().fill(license.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(heading(page, 'Your license for Tally')).toBeFocused()
  await expect(page.getByRole('link', { name: 'Renew' })).toHaveAttribute('href', renew)
  await expect(page.getByRole('link', { name: 'More seats' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Buy another license' })).toBeVisible()
  await expectStateAccessible(page, 'the customer’s page with links')
})
