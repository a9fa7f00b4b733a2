import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { choose, dialog, enter, expectToast, heading, readClipboard, row, Vendor, visit } from '../steps.ts'

async function openCreation(page: Page, button: string) {
  await page.getByRole('button', { name: button }).click()
  return dialog(page, 'Create API Key')
}

test('a key is created from the settings, shown once, works with curl as shown, and is revoked', {
  tag: ['@full', '@phone'],
}, async ({ page, request, keyward }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await vendor.createLicenses(app, 2)
  await enter(page, vendor, '/settings')
  await page.getByRole('link', { name: 'Manage API Keys' }).click()
  await expect(heading(page, 'API Keys')).toBeVisible()
  await expect(page).toHaveURL('/settings/api-keys')
  await expect(page.getByText('No API keys yet')).toBeVisible()
  await expect(page.getByRole('region', { name: 'Terminal' })).toContainText(
    `curl '${keyward.url}/api/licenses?limit=1'`,
  )
  await expectAccessible(page, 'no API keys')

  const key = await test.step('creates a key that issues licenses', async () => {
    const form = await openCreation(page, 'Create First Key')
    await form.getByRole('button', { name: 'Create Key' }).click()
    await expect(form.getByText('Name is required')).toBeVisible()
    await form.getByLabel('Name').fill('Web shop')
    await expect(form.getByLabel('Licenses: write')).toBeChecked()
    await expect(form.getByLabel('Licenses: delete')).not.toBeChecked()
    await form.getByLabel('Networks').fill('127.0.0.0/8\noffice')
    await form.getByRole('button', { name: 'Create Key' }).click()
    await expect(form.getByText(/Must be an IP address/)).toBeVisible()
    await form.getByLabel('Networks').fill('127.0.0.0/8')
    await expectAccessible(page, 'the dialog of a new key')
    await form.getByRole('button', { name: 'Create Key' }).click()
    const view = dialog(page, 'API Key Created')
    await expect(view.getByText('The key is shown only once')).toBeVisible()
    await expectAccessible(page, 'a new key')
    await page.keyboard.press('Escape')
    await dialog(page, 'Close the key?').getByRole('button', { name: 'Back' }).click()
    await view.getByRole('button', { name: 'Copy Try it' }).click()
    const command = await readClipboard(page)
    await view.getByRole('button', { name: 'Copy API key' }).click()
    const copied = await readClipboard(page)
    expect(copied).toMatch(/^kwa_[0-9A-Za-z]{40}$/)
    expect(command).toBe(
      `curl '${keyward.url}/api/licenses?limit=1' \\\n  -H 'Authorization: Bearer ${copied}'`,
    )
    await view.getByRole('button', { name: 'Done' }).click()
    await expect(view).toBeHidden()
    return copied
  })

  const ask = (path: string) =>
    request.get(`${keyward.url}/api${path}`, { headers: { authorization: `Bearer ${key}` } })

  await test.step('the key does what it may, and the list says so', async () => {
    const answer = await ask('/licenses?limit=1')
    expect((await answer.json()).data.pagination.total).toBe(2)
    expect((await ask('/clients')).status()).toBe(403)
    await page.reload()
    const shown = row(page, 'Web shop')
    await expect(shown).toContainText(`kwa_…${key.slice(-4)}`)
    await expect(shown).toContainText('Issue licenses')
    await expect(shown).toContainText('All apps')
    await expect(shown).toContainText('127.0.0.1')
    await expect(page.getByText(key)).toHaveCount(0)
    await expectAccessible(page, 'a list of API keys')
  })

  await test.step('a revoked key is refused', async () => {
    await page.getByRole('button', { name: 'Revoke Web shop' }).click()
    const confirm = dialog(page, 'Revoke Web shop?')
    await expectAccessible(page, 'revoking a key')
    await confirm.getByRole('button', { name: 'Revoke Key' }).click()
    await expectToast(page, 'API key revoked')
    await expect(page.getByText('No API keys yet')).toBeVisible()
    expect((await ask('/licenses')).status()).toBe(401)
  })
})

test('a key gets its own choice of permissions, some applications and a last day', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp('Tally')
  await vendor.createApp('Ledger')
  await enter(page, vendor)
  await visit(page, '/settings/api-keys')
  const form = await openCreation(page, 'Create First Key')
  await form.getByLabel('Name').fill('Report')
  await choose(form, 'Permissions', 'Read only')
  await expect(form.getByText('Sees no app secrets and changes nothing.')).toBeVisible()
  await expect(form.getByLabel('App secrets: read')).not.toBeChecked()
  await form.getByLabel('End users: delete').check()
  await expect(form.getByRole('combobox', { name: 'Permissions' })).toHaveText('Your own choice')
  await form.getByText('Some apps').click()
  await form.getByRole('button', { name: 'Create Key' }).click()
  await expect(form.getByText('Choose at least one app')).toBeVisible()
  await choose(form, 'Add an app', 'Ledger')
  await choose(form, 'Expires', 'On a date')
  await form.getByLabel('Last day').fill('2099-02-03')
  await form.getByRole('button', { name: 'Create Key' }).click()
  await dialog(page, 'API Key Created').getByRole('button', { name: 'Done' }).click()
  const shown = row(page, 'Report')
  await expect(shown).toContainText('Ledger')
  await expect(shown).toContainText('Feb 03, 2099')
  await expect(shown).toContainText('End users: read, delete')
  await expect(shown).toContainText('Not used yet')
})
