import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from '../keyward.ts'
import { addApp, dialog, enter, figure, heading, makePremium, Program, Vendor } from '../steps.ts'

test.describe('dashboard', () => {
  test('offers two ways to create the first app', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request, 'Dora Dash')
    await enter(page, vendor)
    const main = page.getByRole('main')
    await expect(main.getByRole('heading', { level: 1 })).toHaveText(/Dora Dash/)
    await expect(main.getByText('No applications yet')).toBeVisible()
    await expect(main.getByText('No Application Created')).toBeVisible()
    await expect(main.getByRole('link', { name: 'Learn More' })).toHaveAttribute('href', '/docs')
    await expect(main.getByText('0 of 2 apps', { exact: true })).toBeVisible()
    const first = main.getByRole('button', { name: 'Create Your First App' })
    await expect(first).toHaveCount(2)
    for (const button of [first.nth(0), first.nth(1), addApp(page)]) {
      await button.click()
      await expect(dialog(page, 'Add New App')).toBeVisible()
      await page.keyboard.press('Escape')
      await expect(dialog(page, 'Add New App')).toBeHidden()
    }

    await test.step('shows the free plan with its usage, and an upgrade to premium', async () => {
      await vendor.createApp('One')
      await expect(main.getByText('Upgrade to Premium', { exact: true })).toBeVisible()
      await expect(
        main.getByText('Unlock unlimited apps and licenses. Currently using 1 of 2 apps.', { exact: true }),
      ).toBeVisible()
      await expect(main.getByRole('link', { name: 'Upgrade Now' })).toHaveAttribute('href', '/subscription')
      await expect(figure(page, 'Total Apps')).toContainText('1of 2')
      await expect(figure(page, 'Plan')).toContainText('FreeLimited')
      await expect(addApp(page)).toBeEnabled()
      await expect(main.getByRole('heading', { name: 'Applications' })).toBeVisible()
      await expect(main.getByText('1 of 2 apps', { exact: true })).toBeVisible()
    })
  })

  test('shows a newcomer one primary action, and greets a returning vendor as one', { tag: '@full' }, async ({
    page,
    request,
    keyward,
  }) => {
    const vendor = await Vendor.signUp(request, 'Dora Dash')
    await enter(page, vendor)
    await expect(heading(page, 'Welcome, Dora Dash')).toBeVisible()
    await expect(page.getByText('0 of 4 steps done')).toBeVisible()
    await expect(page.locator('main .bg-accent:is(button, a)')).toHaveText(['Create Your First App'])
    const database = new DatabaseSync(join(keyward.dataDir, 'keyward.db'), { timeout: 5000 })
    const created = Date.now() - 2 * 86_400_000
    database.prepare('update accounts set created_at = ? where email = ?').run(created, vendor.email)
    database.close()
    await page.reload()
    await expect(heading(page, 'Welcome back, Dora Dash')).toBeVisible()
  })

  test("rejects a new app at the plan's limit, by button and by URL", { tag: '@full' }, async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp('One')
    await vendor.createApp('Two')
    await enter(page, vendor, '/dashboard?dialog=new-app')
    await expect(page.getByText('2 of 2 apps', { exact: true })).toBeVisible()
    await expect(addApp(page)).toBeDisabled()
    await expect(page.getByText('Currently using 2 of 2 apps.')).toBeVisible()
    await expect(dialog(page, 'Add New App')).toBeHidden()
  })

  test('shows no limit and no banner on premium', { tag: '@full' }, async ({ page, request, keyward }) => {
    const vendor = await Vendor.signUp(request)
    makePremium(keyward, vendor)
    for (const name of ['One', 'Two', 'Three']) await vendor.createApp(name)
    await enter(page, vendor)
    await expect(figure(page, 'Total Apps')).toContainText('3of ∞')
    await expect(figure(page, 'Plan')).toContainText('PremiumUnlimited')
    await expect(addApp(page)).toBeEnabled()
    await expect(page.getByText('Upgrade to Premium')).toBeHidden()
  })

  test('shows real counts', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await vendor.createApp()
    const [deleted] = await vendor.createLicenses(app, 4, 60)
    await vendor.call('DELETE', `/licenses/${deleted!._id}`)
    const [used] = await vendor.createLicenses(app, 1, 3)
    await (await Program.start(request, app)).register('erik', used!)
    await enter(page, vendor)
    for (const [name, value, note] of [
      ['Total Licenses', '4', '5 created in 30 days, 5 more than in the 30 before'],
      ['Active Licenses', '1', '1 activated in 30 days, 1 more than in the 30 before'],
      ['Resellers', '0', '0 added in 30 days, as many as in the 30 before'],
      ['End Users', '1', '1 new in 30 days, 1 more than in the 30 before'],
      ['Expiring Soon', '1', 'active licenses, in the next 7 days, '],
    ] as const) {
      await expect(figure(page, name)).toContainText(`${name}${value}${note}`)
    }
  })
})
