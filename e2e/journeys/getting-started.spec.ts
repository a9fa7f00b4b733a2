import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { dialog, enter, figure, Program, part, row, Vendor, visit } from '../steps.ts'
import { addMember } from '../team.ts'

const checklist = (page: Page) => page.getByRole('region', { name: 'Getting started' })
const next = (page: Page) => page.getByRole('region', { name: 'Next steps' })
const step = (page: Page, name: string) => next(page).getByRole('listitem').filter({ hasText: name })

test.describe('getting started', () => {
  test('completes its steps automatically, and disappears permanently after the first activation', {
    tag: '@full',
  }, async ({ page, request }) => {
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
    await expect(step('First activation').getByRole('link', { name: 'Copy a Key' })).toBeVisible()

    await checklist(page).getByRole('link', { name: 'Show Snippet' }).click()
    await expect(part(page, 'Integrate Tally')).toContainText(new URL(page.url()).origin)
    await page.goBack()
    await done(2)
    await checklist(page).getByRole('link', { name: 'Show Snippet' }).click()
    await page.getByRole('button', { name: 'Copy license.mjs' }).click()
    await page.goBack()
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
    await expect(next(page)).toBeVisible()
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

test.describe('after the first activation', () => {
  async function activated(vendor: Vendor, request: Parameters<typeof Vendor.signUp>[0]) {
    const app = (await vendor.call('GET', '/apps')).apps[0] ?? (await vendor.createApp())
    const [license] = await vendor.createLicenses(app)
    await (await Program.start(request, app)).register('alice', license!)
    return app
  }

  test('the next steps open their dialogs, and disappear once each is done or dismissed', {
    tag: ['@full', '@phone'],
  }, async ({ page, request, keyward }) => {
    const { vendor } = await premiumVendor(request, keyward)
    const app = await activated(vendor, request)
    await enter(page, vendor)
    await expect(next(page)).toContainText('0 of 4 steps done')
    await expectAccessible(page, 'the next steps', { within: 'main' })

    await step(page, 'Create a license type').getByRole('link', { name: 'New Type' }).click()
    await expect(dialog(page, 'New License Type')).toBeVisible()
    await expect(page).toHaveURL(`/apps/${app._id}?tab=types&dialog=new-type`)
    await page.keyboard.press('Escape')
    await expect(page).toHaveURL(`/apps/${app._id}?tab=types`)
    await visit(page, '/dashboard')
    await step(page, 'Connect your shop').getByRole('link', { name: 'Add Shop' }).click()
    await expect(dialog(page, 'Add Shop')).toBeVisible()
    await expect(page).toHaveURL(`/apps/${app._id}?tab=shops&dialog=new-shop`)
    await visit(page, '/dashboard')
    await step(page, 'Add a reseller').getByRole('link', { name: 'Add Reseller' }).click()
    await expect(page).toHaveURL('/resellers?dialog=create')
    await expect(page.getByRole('dialog')).toBeVisible()
    await visit(page, '/dashboard')
    await step(page, 'never online').getByRole('link', { name: 'Activate Offline' }).click()
    await expect(page).toHaveURL(`/apps/${app._id}?tab=settings&dialog=activate-offline`)
    await expect(page.getByRole('dialog')).toBeVisible()

    await vendor.call('POST', `/apps/${app._id}/license-types`, { name: 'Pro', term: 'forever' })
    await createReseller(vendor, app, 5)
    await visit(page, '/dashboard')
    await expect(next(page)).toContainText('2 of 4 steps done')
    await expect(step(page, 'Create a license type')).toContainText('(done)')
    await expect(step(page, 'Add a reseller')).toContainText('(done)')
    await page.getByRole('button', { name: 'Not needed: Connect your shop' }).click()
    await expect(next(page)).toContainText('2 of 3 steps done')
    await page.getByRole('button', { name: /^Not needed: Activate a machine/ }).click()
    await expect(next(page)).toBeHidden()
    await expect(page.locator('#main')).toBeFocused()
    await page.reload()
    await expect(row(page, app.name)).toBeVisible()
    await expect(next(page)).toBeHidden()
  })

  test('the next steps are those of the plan, and can be hidden permanently', async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await activated(vendor, request)
    await enter(page, vendor)
    await expect(next(page)).toContainText('0 of 3 steps done')
    await expect(next(page)).not.toContainText('reseller')
    await page.getByRole('button', { name: 'Not needed: Create a license type' }).click()
    await expect(next(page)).toContainText('0 of 2 steps done')
    await page.getByRole('button', { name: 'Hide next steps' }).click()
    await expect(next(page)).toBeHidden()
    await page.reload()
    await expect(row(page, app.name)).toBeVisible()
    await expect(next(page)).toBeHidden()
  })

  test('vendors with licenses of earlier months get no steps, and nothing is requested for them', {
    tag: '@full',
  }, async ({ page, request, keyward }) => {
    const vendor = await Vendor.signUp(request)
    const app = await activated(vendor, request)
    const database = new DatabaseSync(join(keyward.dataDir, 'keyward.db'), { timeout: 5000 })
    database
      .prepare("update daily_counts set day = day - 40 where metric = 'licenses' and app_id = ?")
      .run(app._id)
    database.close()
    const requests: string[] = []
    page.on('request', (sent) => requests.push(new URL(sent.url()).pathname))
    await enter(page, vendor)
    await expect(figure(page, 'Total Licenses')).toContainText('0 created in 30 days')
    await expect(figure(page, 'Active Licenses')).toContainText('1')
    await expect(next(page)).toBeHidden()
    expect(requests.filter((path) => /license-types|offline-activations/.test(path))).toEqual([])
  })

  test('support gets no steps', { tag: '@full' }, async ({ page, request }) => {
    const vendor = await Vendor.signUp(request)
    const app = await activated(vendor, request)
    const member = await addMember(request, vendor, { role: 'support' })
    await enter(page, member)
    await expect(row(page, app.name)).toBeVisible()
    await expect(next(page)).toBeHidden()
  })
})
