import type { Page, Response } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { addShop } from '../shop.ts'
import { enter, visit } from '../steps.ts'

interface Form {
  path: string
  /** The button that opens the form, if its path does not. */
  open?: string
  /** What is typed, by label; `#` is the number of the window. */
  typed?: Record<string, string>
  /** What is chosen from a list, by label. */
  chosen?: Record<string, string>
  clicked?: { role: 'switch' | 'radio'; name: RegExp }
  button: string
}

test('each form that is open in two windows saves once for a double click, and says nothing false', {
  tag: '@full',
}, async ({ page, context, request, keyward }) => {
  test.setTimeout(600_000)
  const { vendor, app } = await premiumVendor(request, keyward)
  const other = await vendor.createApp('Other')
  const [license, free, spare] = await vendor.createLicenses(app, 3)
  const user = await vendor.createEndUser(app, 'hanna')
  const reseller = await createReseller(vendor, app)
  const { customer } = await vendor.call('POST', '/customers', { email: 'ada@example.com' })
  const shop = await addShop(vendor, app)
  const type = (name: string) =>
    vendor.call('POST', `/apps/${app._id}/license-types`, { name, term: 'forever' })
  await type('Pro')
  await type('Trial')
  await vendor.call('POST', `/apps/${app._id}/releases`, { version: '1.0.0', releasedAt: '2026-01-01' })
  const { webhook } = await vendor.call('POST', '/webhooks', {
    url: 'https://hooks.example.com/keyward',
    events: ['license.banned'],
  })
  const { member } = await vendor.call('POST', '/members', { email: 'mia@example.com', role: 'support' })
  const tab = (name: string) => `/apps/${app._id}?tab=${name}`
  const forms: Form[] = [
    {
      path: '/licenses?dialog=new-sale',
      typed: { Customer: 'buyer#@example.com' },
      chosen: { Application: 'Tally' },
      clicked: { role: 'radio', name: /Pro/ },
      button: 'Sell',
    },
    { path: '/settings?profile', typed: { 'Business name': 'Tally Works' }, button: 'Save Profile' },
    { path: tab('releases'), open: 'Add Release', typed: { Version: '2.#.0' }, button: 'Add Release' },
    { path: tab('customers'), typed: { 'Business name': 'Tally' }, button: 'Save Profile' },
    { path: `${tab('shops')}&dialog=edit-shop&id=${shop._id}`, typed: { Name: 'Corner' }, button: 'Save' },
    {
      path: tab('types'),
      open: 'Links of Pro',
      typed: { 'Buy Link': 'https://shop.example.com/' },
      button: 'Save Links',
    },
    {
      path: tab('types'),
      open: 'Edit Trial',
      clicked: { role: 'switch', name: /Trial/ },
      button: 'Save Type',
    },
    { path: `${tab('types')}&dialog=new-type`, typed: { Name: 'Type #' }, button: 'Create Type' },
    { path: tab('mail'), typed: { Subject: 'Your key' }, button: 'Save Mail' },
    { path: tab('texts'), typed: { keyUsed: 'Taken' }, button: 'Save Messages' },
    { path: `/members?dialog=edit&id=${member._id}`, chosen: { Role: 'Viewer' }, button: 'Save' },
    { path: '/licenses?dialog=generate', chosen: { Application: 'Tally' }, button: 'Generate License' },
    { path: `/licenses?dialog=extend&id=${license!._id}`, button: 'Extend License' },
    {
      path: `/licenses?dialog=edit-license&id=${free!._id}`,
      typed: { Note: 'for Ada' },
      button: 'Save License',
    },
    { path: `/licenses?dialog=ban&id=${spare!._id}`, button: 'Ban License' },
    { path: '/customers?dialog=create', typed: { Email: 'new#@example.com' }, button: 'Add Customer' },
    { path: `/customers/${customer._id}?dialog=edit`, typed: { Name: 'Ada' }, button: 'Save Customer' },
    { path: `/users?dialog=extend&id=${user._id}`, button: 'Extend' },
    { path: '/dashboard?dialog=new-app', typed: { 'App Name': 'App #' }, button: 'Create App' },
    {
      path: `/dashboard?dialog=edit-app&id=${other._id}`,
      typed: { Version: '3.0.0' },
      button: 'Save Changes',
    },
    {
      path: `/resellers?dialog=edit&id=${reseller._id}`,
      typed: { 'License Limit': '70' },
      button: 'Update Limit',
    },
    { path: '/settings/api-keys?dialog=create', typed: { Name: 'Key #' }, button: 'Create Key' },
    {
      path: '/settings/integrations?dialog=create',
      typed: { Address: 'https://hooks.example.com/#' },
      button: 'Create Webhook',
    },
    {
      path: `/settings/integrations?dialog=edit&id=${webhook._id}`,
      typed: { Address: 'https://hooks.example.com/all' },
      button: 'Save',
    },
  ]
  const windows = [page, await context.newPage()]
  await enter(page, vendor)
  await windows[1]!.goto('/dashboard')
  for (const window of windows) window.setDefaultTimeout(15_000)
  for (const form of forms) {
    const saved = async () => {
      for (const [at, window] of windows.entries()) await fill(window, form, at + 1)
      for (const window of windows) await expectOneWrite(window, form)
    }
    expect.soft(await saved().catch(String), `${form.path} ${form.open ?? ''}`).toBeUndefined()
  }
})

async function fill(window: Page, { path, open, typed = {}, chosen = {}, clicked }: Form, number: number) {
  await visit(window, path)
  if (open) await window.getByRole('button', { name: open }).click()
  const form = window.getByRole('dialog').or(window.getByRole('main')).last()
  for (const [label, text] of Object.entries(typed)) {
    const field = form.getByLabel(new RegExp(`^${label}(?!s)`)).first()
    await field.fill(text.replace('#', String(number)))
  }
  for (const [label, option] of Object.entries(chosen)) {
    await form.getByRole('combobox', { name: label }).click()
    await window
      .getByRole('option', { name: new RegExp(`^${option}`) })
      .first()
      .click()
  }
  if (clicked) await form.getByRole(clicked.role, { name: clicked.name }).first().click()
}

async function expectOneWrite(window: Page, { path, button }: Form) {
  const answers: string[] = []
  const note = async (response: Response) => {
    const sent = response.request()
    const isTrial = /dryRun|preview/.test(`${sent.url()} ${sent.postData() ?? ''}`)
    if (sent.method() !== 'GET' && sent.url().includes('/api/') && !isTrial)
      answers.push(`${sent.method()} ${response.status()}`)
  }
  window.on('response', note)
  await window.getByRole('button', { name: button, exact: true }).last().dblclick({ noWaitAfter: true })
  await expect.poll(() => answers.length, { message: 'a write', timeout: 15_000 }).toBeGreaterThan(0)
  await expect(window.locator('[data-sonner-toast][data-type="error"]')).toHaveCount(0, { timeout: 15_000 })
  window.off('response', note)
  expect.soft(answers, path).toEqual([expect.stringMatching(/ 20\d$/)])
}
