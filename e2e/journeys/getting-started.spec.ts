import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { dialog, enter, figure, Program, row, Vendor } from '../steps.ts'

const checklist = (page: Page) => page.getByRole('region', { name: 'Getting started' })

test.describe('getting started', () => {
  test('completes its steps automatically, and disappears permanently after the first activation', async ({
    page,
    request,
  }) => {
    const vendor = await Vendor.signUp(request)
    await enter(page, vendor)
    const done = (count: number) => expect(checklist(page)).toContainText(`${count} of 4 steps done`)
    const step = (name: string) => checklist(page).getByRole('listitem').filter({ hasText: name })
    await done(0)
    await expect(step('Create an app')).toHaveAttribute('aria-current', 'step')
    await expectAccessible(page, 'the checklist', { within: 'main' })
    await page.getByRole('button', { name: 'Create Your First App' }).first().click()
    await page.getByLabel('App Name').fill('Tally')
    await page.getByRole('button', { name: 'Create App' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await done(1)
    await expect(step('Create an app')).toContainText('(done)')
    await expect(step('First activation').getByRole('link')).toHaveCount(0)

    await checklist(page).getByRole('link', { name: 'Generate' }).click()
    await expect(page).toHaveURL('/licenses?dialog=generate')
    await expect(dialog(page, /Generate License/)).toBeVisible()
    await page.goto('/dashboard')
    const { apps } = await vendor.call('GET', '/apps')
    const [license] = await vendor.createLicenses(apps[0])
    await done(2)
    await expect(step('First activation').getByRole('link', { name: 'Copy a key' })).toBeVisible()

    await checklist(page).getByRole('link', { name: 'Show snippet' }).click()
    await expect(dialog(page, 'Integrate Tally')).toContainText(new URL(page.url()).origin)
    await page.keyboard.press('Escape')
    await done(2)
    await checklist(page).getByRole('link', { name: 'Show snippet' }).click()
    await page.getByRole('button', { name: 'Copy license.mjs' }).click()
    await page.keyboard.press('Escape')
    await expect(step('Put the snippet in your program')).toContainText('(done)')
    await done(3)
    await vendor.createEndUser(apps[0], 'made by hand')
    await expect(figure(page, 'End Users')).toContainText('1')
    await done(3)
    await page.reload()
    await done(3)

    const program = await Program.start(request, apps[0])
    await program.register('alice', license!)
    await expect(checklist(page)).toBeHidden()
    await expect(figure(page, 'Active Licenses')).toContainText('1')
    await page.reload()
    await expect(row(page, 'Tally')).toBeVisible()
    await expect(checklist(page)).toBeHidden()
  })

  test('can be hidden permanently', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    await vendor.createApp()
    await enter(page, vendor)
    await checklist(page).getByRole('button', { name: 'Hide getting started' }).click()
    await expect(checklist(page)).toBeHidden()
    await expect(page.locator('#main')).toBeFocused()
    await page.reload()
    await expect(row(page, 'Tally')).toBeVisible()
    await expect(figure(page, 'Total Licenses')).toContainText('0')
    await expect(checklist(page)).toBeHidden()
    const { apps } = await vendor.call('GET', '/apps')
    await vendor.call('DELETE', `/apps/${apps[0]._id}`)
    await expect(page.getByText('No Application Created')).toBeVisible()
    await expect(checklist(page)).toBeHidden()
  })
})
