import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Response } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { addShop, newSecret } from '../shop.ts'
import { enter, keyPrefix, Program, visit } from '../steps.ts'

interface Form {
  path: string
  /** What each window is about, if one write ends it: `#` in the path. */
  ids?: readonly [string, string]
  /** The rows that are selected first, one a window. */
  rows?: readonly [string, string]
  /** The button that opens the form, if its path does not, or what is pressed one after the other. */
  open?: string | string[]
  /** What is typed, by label; `#` is the number of the window. */
  typed?: Record<string, string | readonly [string, string]>
  /** What is chosen from a list, by label. */
  chosen?: Record<string, string | readonly [string, string]>
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

test('each form of lists, devices and secrets that is open in two windows saves once for a double click', {
  tag: '@full',
}, async ({ page, context, request, keyward }) => {
  test.setTimeout(600_000)
  const { vendor, app } = await premiumVendor(request, keyward)
  const apps = [(await vendor.createApp('Old 1'))._id, (await vendor.createApp('Old 2'))._id] as const
  const [first, second, third, fourth, ...free] = await vendor.createLicenses(app, 6)
  const licenses = [keyPrefix(first!.key), keyPrefix(second!.key)] as const
  const users: string[] = []
  for (const [name, license] of [
    ['hanna', third!],
    ['ivo', fourth!],
  ] as const) {
    const program = await Program.start(request, app)
    await program.register(name, license, `the computer of ${name}`)
    users.push((await vendor.call('GET', `/clients?search=${name}`)).clients[0]._id)
  }
  const ids = [users[0]!, users[1]!] as const
  const names = ['hanna', 'ivo'] as const
  const resellers = [await createReseller(vendor, app), await createReseller(vendor, app)] as const
  const sellers = [resellers[0]._id, resellers[1]._id] as const
  const shop = await addShop(vendor, app)
  await vendor.call('PUT', `/apps/${app._id}/customer-mails`, { endsSoonDays: [14, 3] })
  for (const version of ['1.1.0', '1.2.0'])
    await vendor.call('POST', `/apps/${app._id}/releases`, { version, releasedAt: '2026-01-01' })
  const apiKeys: string[] = []
  const webhooks: string[] = []
  for (const name of ['one', 'two']) {
    const key = await vendor.call('POST', '/api-keys', { name, permissions: ['apps:read'] })
    apiKeys.push(key.apiKey._id)
    const url = `https://hooks.example.com/${name}`
    webhooks.push((await vendor.call('POST', '/webhooks', { url, events: ['license.banned'] })).webhook._id)
  }
  const tab = (name: string) => `/apps/${app._id}?tab=${name}`
  const forms: Form[] = [
    { path: '/licenses', rows: licenses, open: 'Extend', button: 'Extend Licenses' },
    { path: '/licenses', rows: licenses, open: 'Ban', button: 'Ban Licenses' },
    { path: '/licenses', rows: licenses, open: 'Unban', button: 'Unban Licenses' },
    { path: '/licenses', rows: licenses, open: 'Delete', button: 'Delete Licenses' },
    { path: '/users', rows: names, open: 'Extend', button: 'Extend Subscriptions' },
    { path: '/users', rows: names, open: 'Ban', button: 'Ban Users' },
    { path: '/users', rows: names, open: 'Unban', button: 'Unban Users' },
    { path: '/users', rows: names, open: 'Reset HWID', button: 'Reset HWIDs' },
    { path: `/users/${users[0]}?dialog=free-all`, button: 'Free All' },
    {
      path: '/users?dialog=add-license&id=#',
      ids,
      chosen: { License: [free[0]!.key.slice(0, 11), free[1]!.key.slice(0, 11)] },
      button: 'Add License',
    },
    { path: '/users', rows: names, open: 'Delete', button: 'Delete Users' },
    {
      path: '/dashboard?dialog=delete-app&id=#',
      ids: apps,
      typed: { Type: ['Old 1', 'Old 2'] },
      button: 'Delete',
    },
    { path: '/settings/api-keys?dialog=revoke&id=#', ids: [apiKeys[0]!, apiKeys[1]!], button: 'Revoke Key' },
    {
      path: '/settings/integrations?dialog=rotate&id=#',
      ids: [webhooks[0]!, webhooks[1]!],
      button: 'Rotate Secret',
    },
    { path: tab('settings'), open: 'Rotate Secret', button: 'Rotate Secret' },
    { path: tab('settings'), typed: { 'Hardware ID': 'computer-#' }, button: 'Block' },
    { path: tab('mail'), typed: { 'Days Before the End': ['5', '4'] }, button: 'Save Days' },
    { path: tab('texts'), open: 'Reset to Defaults', button: 'Reset to Defaults' },
    {
      path: tab('releases'),
      open: ['Actions for 1.#.0', 'Edit Release'],
      typed: { Link: 'https://tally.example/#' },
      button: 'Save Release',
    },
    { path: tab('releases'), open: ['Actions for 1.#.0', 'Withdraw Release'], button: 'Withdraw Release' },
    {
      path: `${tab('shops')}&dialog=replace-secret&id=${shop._id}`,
      typed: { New: [newSecret(), newSecret()] },
      button: 'Replace',
    },
    { path: '/resellers?dialog=end-sessions&id=#', ids: sellers, button: 'Sign Out' },
    { path: '/resellers?dialog=reset-second-factor&id=#', ids: sellers, button: 'Reset' },
    { path: '/settings?dialog=pause-applications', button: 'Pause Applications' },
  ]
  await enter(page, vendor)
  await saveAll([page, await context.newPage()], forms)
})

/** Buttons of forms that one window alone can have, or that other journeys press; all writes stop a double click. */
const elsewhere: Record<string, string[]> = {
  'the account of the person, whose other windows it signs out or sends away': [
    ...['Update Email', 'Change Password', 'Sign Up', 'Sign In', 'Send Link', 'Accept Invitation'],
    ...['Delete Account', 'Leave', 'Make Owner', 'End Sessions', 'Turn On', 'Remove', 'Reset Data'],
  ],
  'a second one is refused: there is nothing left, or the first changed what it was about': [
    ...['Delete All', 'Revoke', 'Remove Mail', 'Reset to Default', 'Remove Texts', 'Save Variables', 'Allow'],
    ...['Cancel Subscription', 'Undo Import', 'End Move', 'Mail Link', 'End Licenses', 'Mail Customers'],
  ],
  'it takes a file, a code or a price first': ['Check Files', 'Create File', 'Free Device', 'Apply'],
  'the portal': ['Save Note'],
  'the same form as Sell, with a mail': ['Sell and Mail'],
  'it only closes a dialog': ['Close'],
}

test('each button that sends a form is pressed twice here, or is named with the reason why not', () => {
  const own = readFileSync(import.meta.filename, 'utf8')
  const pressed = [...own.matchAll(/ button: '(.+)'/g)].map(([, button]) => button)
  const sources = join(import.meta.dirname, '../../apps/console/src')
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  const all = files
    .filter((file) => file.endsWith('.tsx'))
    .flatMap((file) => {
      const text = readFileSync(join(sources, file), 'utf8')
      const labels = [...text.matchAll(/(?:submitLabel|confirmLabel)(?:=|: )(\{[^}]+\}|"[^"]+"|'[^']+')/g)]
      const buttons = [...text.matchAll(/type="submit"[^<]*?>\s*([A-Z][\w ]+)/g)]
      return [
        ...labels.flatMap(([, value = '']) =>
          [...value.matchAll(/(?<!, )["'](\w.*?)["']/g)].map(([, label]) => label),
        ),
        ...buttons.map(([, label = '']) => label.trim()),
      ]
    })
  const known = new Set([...pressed, ...Object.values(elsewhere).flat()])
  expect([...new Set(all)].filter((label) => !known.has(label))).toEqual([])
  expect(all.length).toBeGreaterThan(90)
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
    expect.soft(await saved().catch(String), `${form.path} ${form.button}`).toBeUndefined()
  }
}

async function fill(window: Page, form: Form, at: 0 | 1) {
  const { path, ids, rows, open, typed = {}, chosen = {}, clicked } = form
  // A message of the last save stays as long as the mouse is over it, and can cover the next button.
  await window.mouse.move(0, 0)
  await visit(window, path.replace('#', ids?.[at] ?? ''))
  if (rows) await window.getByRole('checkbox', { name: `Select ${rows[at]}` }).check()
  for (const name of [open ?? []].flat())
    await window
      .getByRole('button', { name: name.replace('#', String(at + 1)) })
      .or(window.getByRole('menuitem', { name }))
      .last()
      .click()
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
      .getByRole('option', { name: new RegExp(`^${typeof option === 'string' ? option : option[at]}`) })
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
