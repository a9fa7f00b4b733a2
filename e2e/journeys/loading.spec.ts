import { expect, test } from '../keyward.ts'
import { enter, heading, keyPrefix, makePremium, row, Vendor } from '../steps.ts'

test('a slow response shows a spinner, then skeletons, then the data', async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const [license] = await vendor.createLicenses(await vendor.createApp())
  const held: (() => void)[] = []
  const hold = (path: string) =>
    page.route(path, async (route) => {
      await new Promise<void>((resolve) => held.push(resolve))
      await route.continue()
    })
  const release = async (count: number) => {
    await expect.poll(() => held.length).toBe(count)
    for (const go of held.splice(0)) go()
  }
  await hold('**/api/auth/profile')
  await hold('**/api/licenses?*')
  await enter(page, vendor, '/licenses')
  await expect.poll(() => held.length).toBe(1)
  await expect(page.getByRole('status').filter({ hasText: /loading/i })).toBeVisible()
  await expect(heading(page, 'Licenses')).toBeHidden()
  await release(1)
  await expect(heading(page, 'Licenses')).toBeVisible()
  await expect(page.locator('[aria-busy=true]').first()).toBeVisible()
  await expect(page.getByRole('checkbox', { name: 'Select all rows on this page' })).toBeDisabled()
  await expect(page.getByText('No licenses found')).toBeHidden()
  await release(1)
  await expect(row(page, keyPrefix(license!.key))).toBeVisible()
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
})

test('shows a spinner on the profile until the account is loaded', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  await page.route('**/api/auth/profile', async (route) => {
    await held
    await route.continue()
  })
  const asked = page.waitForRequest('**/api/auth/profile')
  await enter(page, vendor, '/profile')
  // Before this request the spinner belongs to the loading scripts.
  await asked
  await expect(page.getByRole('status').filter({ hasText: /loading/i })).toBeVisible()
  await expect(page.getByText('Unable to load profile data')).toHaveCount(0)
  go()
  await expect(page.getByText(vendor.email).first()).toBeVisible()
  await expect(page.getByRole('status').filter({ hasText: /loading/i })).toHaveCount(0)
})

for (const [path, list, none] of [
  ['/resellers', '**/api/resellers?*', 'Create First Reseller'],
  ['/users', '**/api/clients?*', 'No end users yet'],
] as const) {
  test(`shows skeletons on ${path} while loading`, { tag: '@full' }, async ({ page, request, keyward }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    makePremium(keyward, vendor)
    let go = () => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    await page.route(list, async (route) => {
      await held
      await route.continue()
    })
    await enter(page, vendor, path)
    await expect(page.locator('main [aria-busy=true]').first()).toBeVisible()
    await expect(page.getByText(none)).toBeHidden()
    go()
    await expect(page.getByText(none)).toBeVisible()
    await expect(page.locator('main [aria-busy=true]')).toHaveCount(0)
  })
}
