import type { Page, Response } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { addShop } from '../shop.ts'
import { enter, visit } from '../steps.ts'

interface Form {
  path: string
  /** What each window is about, if one write ends it: `#` in the path. */
  ids?: readonly [string, string]
  /** The button that opens the form, if its path does not. */
  open?: string
  /** What is typed, by label; `#` is the number of the window. */
  typed?: Record<string, string | readonly [string, string]>
  /** What is chosen from a list, by label. */
  chosen?: Record<string, string>
  clicked?: { role: 'switch' | 'radio'; name: RegExp }
  button: string
  /** What the second window says of the first one's change, before it saves its own. */
  told?: string
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
  await enter(page, vendor)
  await saveAll([page, await context.newPage()], forms)
})

test('each dialog about one thing that is open in two windows saves once for a double click, and says nothing false', {
  tag: '@full',
}, async ({ page, context, request, keyward }) => {
  test.setTimeout(600_000)
  const { vendor, app } = await premiumVendor(request, keyward)
  const licenses = (await vendor.createLicenses(app, 6)).map(({ _id }) => _id)
  const users: string[] = []
  for (const name of ['hanna', 'ivo', 'jule', 'karl', 'lena'])
    users.push((await vendor.createEndUser(app, name))._id)
  const resellers = [await createReseller(vendor, app), await createReseller(vendor, app)] as const
  const emails = ['ada@example.com', 'bo@example.com'] as const
  const made = (call: Promise<Record<string, { _id: string }>>, noun: string) =>
    call.then((answer) => answer[noun]!._id)
  const both = async (make: (at: 0 | 1) => Promise<string>) => [await make(0), await make(1)] as const
  const customers = await both((at) =>
    made(vendor.call('POST', '/customers', { email: emails[at] }), 'customer'),
  )
  const shops = [(await addShop(vendor, app))._id, (await addShop(vendor, app))._id] as const
  for (const name of ['Pro 1', 'Pro 2'])
    await vendor.call('POST', `/apps/${app._id}/license-types`, { name, term: 'forever' })
  const webhooks = await both((at) =>
    made(
      vendor.call('POST', '/webhooks', {
        url: `https://hooks.example.com/${at}`,
        events: ['license.banned'],
      }),
      'webhook',
    ),
  )
  const members = await both((at) =>
    made(vendor.call('POST', '/members', { email: emails[at], role: 'support' }), 'member'),
  )
  const changed = 'Someone changed the expiry while this dialog was open.'
  const [license, change] = licenses
  const [user] = users
  const tab = (name: string) => `/apps/${app._id}?tab=${name}`
  const forms: Form[] = [
    {
      path: `${tab('shops')}&dialog=new-shop`,
      typed: { Name: 'Shop #', Product: 'pro' },
      chosen: { 'License type': 'Pro 1' },
      button: 'Continue',
    },
    {
      path: '/members?dialog=invite',
      typed: { Email: 'mia#@example.com' },
      clicked: { role: 'radio', name: /All apps/ },
      button: 'Invite',
    },
    {
      path: '/users?dialog=create',
      typed: { Username: 'user#', Password: 'correct horse', 'Expiry Date': '2099-12-31' },
      chosen: { Application: 'Tally' },
      button: 'Create User',
    },
    {
      path: '/resellers?dialog=create',
      typed: { Email: 'seller#@example.com', Password: 'Correct-horse-9' },
      button: 'Create Reseller',
    },
    {
      path: `/users?dialog=set-password&id=${user}`,
      typed: { 'New Password': 'correct horse #' },
      button: 'Set Password',
    },
    {
      path: `/users?dialog=edit-user&id=${user}`,
      typed: { Email: 'hanna#@example.com' },
      button: 'Save User',
    },
    { path: `/users?dialog=edit-expiry&id=${user}`, button: 'Update Expiry', told: changed },
    { path: `/licenses?dialog=edit-expiry&id=${license}`, button: 'Update Expiry', told: changed },
    {
      path: '/licenses?dialog=change-type&id=#',
      ids: [change!, licenses[2]!],
      chosen: { 'License Type': 'Pro 1' },
      button: 'Change Type',
    },
    { path: `/users?dialog=reset-hwid&id=${user}`, button: 'Reset HWID' },
    { path: '/users?dialog=ban&id=#', ids: [users[1]!, users[2]!], button: 'Ban User' },
    { path: '/users?dialog=delete&id=#', ids: [users[3]!, users[4]!], button: 'Delete User' },
    { path: '/licenses?dialog=delete&id=#', ids: [licenses[3]!, licenses[4]!], button: 'Delete License' },
    {
      path: '/resellers?dialog=suspend&id=#',
      ids: [resellers[0]._id, resellers[1]._id],
      button: 'Suspend',
    },
    {
      path: '/resellers?dialog=delete&id=#',
      ids: [resellers[0]._id, resellers[1]._id],
      typed: { Type: [resellers[0].email, resellers[1].email] },
      button: 'Delete Reseller',
    },
    { path: '/customers/#?dialog=erase', ids: customers, typed: { Type: emails }, button: 'Erase Customer' },
    { path: `${tab('shops')}&dialog=pause-shop&id=#`, ids: shops, button: 'Turn Off' },
    { path: `${tab('shops')}&dialog=delete-shop&id=#`, ids: shops, button: 'Delete Shop' },
    { path: tab('types'), open: 'Delete Pro #', button: 'Delete Type' },
    { path: '/settings/integrations?dialog=pause&id=#', ids: webhooks, button: 'Pause Webhook' },
    { path: '/settings/integrations?dialog=delete&id=#', ids: webhooks, button: 'Delete Webhook' },
    { path: '/members?dialog=remove&id=#', ids: members, button: 'Withdraw Invitation' },
    { path: `/dashboard?dialog=pause-app&id=${app._id}`, button: 'Pause App' },
  ]
  await enter(page, vendor)
  await saveAll([page, await context.newPage()], forms)
})

/** Fills each form in both windows before one of them saves it. */
async function saveAll(windows: [Page, Page], forms: Form[]) {
  await windows[1].goto('/dashboard')
  for (const window of windows) window.setDefaultTimeout(15_000)
  for (const form of forms) {
    const saved = async () => {
      for (const at of [0, 1] as const) await fill(windows[at], form, at)
      await expectOneWrite(windows[0], form)
      if (form.told) await expect(windows[1].getByText(form.told)).toBeVisible()
      await expectOneWrite(windows[1], form)
    }
    expect.soft(await saved().catch(String), `${form.path} ${form.open ?? form.button}`).toBeUndefined()
  }
}

async function fill(window: Page, form: Form, at: 0 | 1) {
  const { path, ids, open, typed = {}, chosen = {}, clicked } = form
  // A message of the last save stays as long as the mouse is over it, and can cover the next button.
  await window.mouse.move(0, 0)
  await visit(window, path.replace('#', ids?.[at] ?? ''))
  if (open) await window.getByRole('button', { name: open.replace('#', String(at + 1)) }).click()
  const dialogs = window.getByRole('dialog').or(window.getByRole('alertdialog'))
  if (open || path.includes('dialog=')) await expect(dialogs.last()).toBeVisible()
  const place = dialogs.or(window.getByRole('main')).last()
  for (const [label, text] of Object.entries(typed)) {
    const labelled = place.getByLabel(new RegExp(`^${label}(?!s)`))
    const field = labelled.and(window.locator('input, textarea')).first()
    await field.fill(typeof text === 'string' ? text.replace('#', String(at + 1)) : text[at])
  }
  for (const [label, option] of Object.entries(chosen)) {
    await place.getByRole('combobox', { name: label }).click()
    await window
      .getByRole('option', { name: new RegExp(`^${option}`) })
      .first()
      .click()
  }
  if (clicked) await place.getByRole(clicked.role, { name: clicked.name }).first().press(' ')
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
