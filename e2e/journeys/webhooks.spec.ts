import { DatabaseSync } from 'node:sqlite'
import type { Page } from '@playwright/test'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { test as base, expect } from '../keyward.ts'
import { type Receiver, signersOf, startReceiver } from '../receiver.ts'
import { forgetProofs } from '../second-factor.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  heading,
  openFilters,
  readClipboard,
  row,
  rowAction,
  Vendor,
  visit,
} from '../steps.ts'
import { addMember } from '../team.ts'

const test = base.extend<{ receiver: Receiver }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture from this parameter
  receiver: async ({}, use) => {
    const receiver = await startReceiver()
    await use(receiver)
    await receiver.close()
  },
})

const integrations = '/settings/integrations'
const hostOf = ({ url }: { url: string }) => new URL(url).host

async function addWebhook(vendor: Vendor, { url }: Receiver, events: string[] = ['license.banned']) {
  const { webhook, secret } = await vendor.call('POST', '/webhooks', { url, events })
  return { path: `${integrations}/${webhook._id}`, secret: secret as string }
}

async function copySecret(page: Page, title: string): Promise<string> {
  const shown = dialog(page, title)
  await expect(shown.getByText('The secret is shown only once')).toBeVisible()
  // Keys are heard once the focus is in the dialog.
  await expect(page.locator('[role="dialog"]:focus-within')).toBeVisible()
  await page.keyboard.press('Escape')
  await dialog(page, 'Close the secret?').getByRole('button', { name: 'Back' }).click()
  await shown.getByRole('button', { name: 'Copy signing secret' }).click()
  const secret = await readClipboard(page)
  expect(secret).toMatch(/^whsec_[\w+/]{32,}=*$/)
  await expectAccessible(page, `the secret in ${title}`)
  await shown.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText(secret)).toHaveCount(0)
  return secret
}

async function sendTest(page: Page, state: 'Delivered' | 'Failed') {
  await page.getByRole('button', { name: 'Send Test Event' }).click()
  const sent = dialog(page, 'Test event')
  await expect(sent.getByText(state, { exact: true })).toBeVisible()
  return sent
}

test('a webhook is created from the settings with proof of identity, and a test event arrives, signed with the secret that was shown once', {
  tag: '@phone',
}, async ({ page, request, keyward, receiver }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await vendor.createApp('Ledger')
  await enter(page, vendor, '/settings')
  await page.getByRole('main').getByRole('link', { name: 'Set Up Integrations' }).click()
  await expect(heading(page, 'Integrations')).toBeVisible()
  await expect(page).toHaveURL(integrations)
  await expect(page.getByText('No webhooks yet')).toBeVisible()
  await expectStateAccessible(page, 'no webhooks')
  await test.step('the page leads to API keys, the guide, the OpenAPI document, and tells an agent its command', async () => {
    for (const name of ['Automation guide', 'OpenAPI document']) {
      const href = await page.getByRole('link', { name }).getAttribute('href')
      expect((await request.get(href!)).status(), name).toBe(200)
    }
    await expect(page.getByRole('region', { name: 'Terminal' })).toContainText(
      `KEYWARD_URL='${keyward.url}' KEYWARD_API_KEY='kwa_…' npx --prefix /opt/keyward keyward mcp`,
    )
    await page.getByRole('link', { name: /API keys/ }).click()
    await expect(heading(page, 'API Keys')).toBeVisible()
    await page.goBack()
  })

  const secret = await test.step('a wrong address is refused on its field', async () => {
    await page.getByRole('button', { name: 'Create First Webhook' }).click()
    const form = dialog(page, 'Create Webhook')
    const address = form.getByLabel('Address', { exact: true })
    const submit = form.getByRole('button', { name: 'Create Webhook' })
    await submit.click()
    await expect(form.getByText('Address is required')).toBeVisible()
    await address.fill('https://10.0.0.1/hook')
    await form.getByText('Some events').click()
    await submit.click()
    await expect(form.getByText('Choose at least one event')).toBeVisible()
    await form.getByText('Licenses', { exact: true }).click()
    await form.getByRole('checkbox', { name: 'License banned' }).check()
    await form.getByRole('checkbox', { name: 'License unbanned' }).check()
    await form.getByText('Some apps').click()
    await choose(form, 'Add an app', 'Tally')
    await expectAccessible(page, 'the form of a webhook')
    await submit.click()
    await expect(form.getByRole('alert')).toBeVisible()
    await expect(address).toHaveAttribute('aria-invalid', 'true')
    await address.fill(receiver.url)
    forgetProofs(keyward)
    await submit.click()
    const confirm = dialog(page, 'Confirm that it is you')
    await confirm.getByLabel('Password', { exact: true }).fill(vendor.password)
    await page.keyboard.press('Enter')
    return copySecret(page, 'Webhook Created')
  })

  await test.step('the list shows it', async () => {
    const shown = row(page, hostOf(receiver))
    await expect(shown).toContainText('Active')
    await expect(shown).toContainText('License banned, License unbanned')
    await expect(shown).toContainText('Tally')
    await expect(shown).toContainText('Standard')
    await expectStateAccessible(page, 'a list of webhooks')
  })

  await test.step('a test event arrives, and its signature verifies', async () => {
    await page.getByRole('link', { name: hostOf(receiver) }).click()
    await expect(heading(page, hostOf(receiver))).toBeVisible()
    await expect(page.getByText('No deliveries yet')).toBeVisible()
    const sent = await sendTest(page, 'Delivered')
    expect(receiver.received).toHaveLength(1)
    expect(signersOf(receiver.received[0]!, [secret])).toEqual([secret])
    expect(JSON.parse(receiver.received[0]!.body).type).toBe('webhook.test')
    await expect(sent.getByRole('region', { name: 'Request' })).toContainText('webhook.test')
    await expectAccessible(page, 'a delivery')
    await sent.getByRole('button', { name: 'Done' }).click()
    await expect(row(page, 'Test event')).toContainText('Delivered')
    await expectStateAccessible(page, 'the log of a webhook')
  })

  await test.step('what happens in the chosen app arrives, and the log shows it without a reload', async () => {
    const [license] = await vendor.createLicenses(app, 1)
    await vendor.call('PATCH', `/licenses/${license!._id}/toggle-ban`, { is_banned: true })
    await expect(row(page, 'License banned')).toContainText('Delivered')
    await expect(row(page, 'Licenses created')).toHaveCount(0)
    const event = JSON.parse(receiver.received.at(-1)!.body)
    expect(event).toMatchObject({ type: 'license.banned', data: { object: { _id: license!._id } } })
  })

  await test.step('whole receivers show how to verify signatures', async () => {
    await page.getByRole('tab', { name: 'Verify Signatures' }).click()
    await expect(page.getByRole('region', { name: 'receiver.mjs' })).toContainText('timingSafeEqual')
    await page.getByRole('tab', { name: 'Python' }).click()
    await expect(page.getByRole('region', { name: 'receiver.py' })).toContainText('compare_digest')
    await page.getByRole('tab', { name: 'PHP' }).click()
    await expect(page.getByRole('region', { name: 'receiver.php' })).toContainText('hash_equals')
    await expectAccessible(page, 'receivers of a webhook')
  })
})

test('a delivery that failed shows what the receiver answered, and arrives once it is sent again', {
  tag: ['@full', '@phone'],
}, async ({ page, request, receiver }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const { path } = await addWebhook(vendor, receiver)
  receiver.status = 500
  const [license] = await vendor.createLicenses(app, 1)
  await vendor.call('PATCH', `/licenses/${license!._id}/toggle-ban`, { is_banned: true })
  await enter(page, vendor)
  await visit(page, path)
  const shown = row(page, 'License banned')
  await expect(shown).toContainText('Failed')
  await expect(shown).toContainText(/500 in \d+ ms/)
  await expect(shown).toContainText(/next (in \d+ (second|minute)s?|now)/)
  await expect(page.getByText(/^Failing since/)).toBeVisible()
  await expectAccessible(page, 'a webhook that fails')

  await openFilters(page)
  await choose(page, 'State', 'Delivered')
  await expect(page.getByText('No deliveries found')).toBeVisible()
  await page.getByRole('button', { name: 'Show All' }).click()

  await shown.getByRole('button', { name: 'License banned', exact: true }).click()
  const open = dialog(page, 'License banned')
  await expect(open.getByRole('region', { name: 'Request' })).toContainText('license.banned')
  await expect(open.getByRole('region', { name: 'Response' })).toContainText('Answered 500')
  await expectAccessible(page, 'a failed delivery')
  await page.reload()
  await expect(open.getByRole('region', { name: 'Response' })).toContainText('Answered 500')
  await open.getByRole('button', { name: 'Done' }).click()

  receiver.status = 204
  await shown.getByRole('button', { name: 'Retry License banned' }).click()
  await expectToast(page, 'The event is sent again')
  await expect(shown).toContainText('Delivered')
  await expect(page.getByText(/^Failing since/)).toHaveCount(0)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(1)
  expect(receiver.received.at(-1)!.body).toBe(receiver.received[0]!.body)
})

test('a webhook is edited, gets a new secret beside the old one, is paused, resumed and deleted', {
  tag: '@full',
}, async ({ page, request, receiver }) => {
  const vendor = await Vendor.signUp(request)
  const { path, secret } = await addWebhook(vendor, receiver)
  await enter(page, vendor, integrations)
  const host = hostOf(receiver)

  await test.step('edit', async () => {
    await rowAction(page, host, 'Edit')
    const form = dialog(page, 'Edit Webhook')
    await expect(form.getByLabel('Address', { exact: true })).toHaveValue(receiver.url)
    await form.getByText('All events').click()
    await expectAccessible(page, 'the form of a webhook that exists')
    await form.getByRole('button', { name: 'Save' }).click()
    await expectToast(page, 'Webhook saved')
    await expect(row(page, host)).toContainText('All events')
  })

  await test.step('rotate', async () => {
    await visit(page, path)
    await rowAction(page, host, 'Rotate Secret')
    const confirm = dialog(page, `Rotate the secret of ${host}?`)
    await expect(confirm.getByText('Both sign for 24 hours')).toBeVisible()
    await confirm.getByRole('button', { name: 'Rotate Secret' }).click()
    const next = await copySecret(page, 'Secret Rotated')
    const sent = await sendTest(page, 'Delivered')
    const last = receiver.received.find(({ body }) => JSON.parse(body).type === 'webhook.test')
    expect(signersOf(last!, [next, secret])).toEqual([next, secret])
    await sent.getByRole('button', { name: 'Done' }).click()
  })

  await test.step('pause and resume', async () => {
    await rowAction(page, host, 'Pause')
    await dialog(page, `Pause the webhook to ${host}?`).getByRole('button', { name: 'Pause Webhook' }).click()
    await expectToast(page, 'Webhook paused')
    await expect(page.getByText('It gets no events. Resume it')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Send Test Event' })).toHaveCount(0)
    await expectAccessible(page, 'a paused webhook')
    await page.getByRole('button', { name: 'Resume' }).click()
    await expectToast(page, 'Webhook resumed')
    await expect(page.getByRole('button', { name: 'Send Test Event' })).toBeVisible()
  })

  await test.step('delete', async () => {
    await rowAction(page, host, 'Delete')
    const confirm = dialog(page, `Delete the webhook to ${host}?`)
    await expect(confirm.getByText('Its log, its secret and the events that still wait')).toBeVisible()
    await expectAccessible(page, 'deleting a webhook')
    await confirm.getByRole('button', { name: 'Delete Webhook' }).click()
    await expectToast(page, 'Webhook deleted')
    await expect(page).toHaveURL(integrations)
    await expect(page.getByText('No webhooks yet')).toBeVisible()
    await page.goto(path)
    await expect(heading(page, 'Webhook not found')).toBeVisible()
  })
})

test('a webhook for which too many events waited says so, and is resumed', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  receiver,
}) => {
  const vendor = await Vendor.signUp(request)
  const { path } = await addWebhook(vendor, receiver)
  const database = new DatabaseSync(`${keyward.dataDir}/keyward.db`, { timeout: 5000 })
  database
    .prepare("update webhooks set active = 0, pause_reason = 'full' where id = ?")
    .run(path.split('/').at(-1)!)
  database.close()
  await enter(page, vendor, integrations)
  await expect(row(page, hostOf(receiver))).toContainText('Paused')
  await expect(row(page, hostOf(receiver))).toContainText('Too many events waited')
  await page.getByRole('link', { name: hostOf(receiver) }).click()
  await expect(page.getByText('More than 50,000 events waited for it.')).toBeVisible()
  await expectAccessible(page, 'a webhook that is full')
  await page.getByRole('button', { name: 'Resume' }).click()
  await expect(page.getByText('Active', { exact: true })).toBeVisible()
  await expect(page.getByText('More than 50,000')).toHaveCount(0)
})

test('a Discord webhook has no secret and no signatures', { tag: '@full' }, async ({
  page,
  request,
  receiver,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, integrations)
  await page.getByRole('button', { name: 'Create First Webhook' }).click()
  const form = dialog(page, 'Create Webhook')
  await form.getByText('Discord').click()
  await form.getByLabel('Address', { exact: true }).fill(receiver.url)
  await form.getByRole('button', { name: 'Create Webhook' }).click()
  await expectToast(page, 'Webhook created')
  await page.getByRole('link', { name: hostOf(receiver) }).click()
  await sendTest(page, 'Delivered')
  const { headers, body } = receiver.received.find((one) => one.body.includes('webhook.test') || one.body)!
  expect(headers['webhook-signature']).toBeUndefined()
  expect(JSON.parse(body)).toHaveProperty('allowed_mentions')
  await dialog(page, 'Test event').getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('tab', { name: 'Verify Signatures' })).toHaveCount(0)
})

test('a viewer reads webhooks and their log without their paths and actions, support does not see them', {
  tag: '@full',
}, async ({ page, request, receiver }) => {
  const vendor = await Vendor.signUp(request)
  await addWebhook(vendor, receiver)
  const viewer = await addMember(request, vendor, { role: 'viewer' })
  const support = await addMember(request, vendor, { role: 'support' })
  await enter(page, viewer, '/settings')
  await page.getByRole('main').getByRole('link', { name: 'Set Up Integrations' }).click()
  await expect(row(page, hostOf(receiver))).toBeVisible()
  await expect(page.getByText('/keyward', { exact: true })).toHaveCount(0)
  await expect(page.getByRole('button', { name: /Webhook$|^Actions for/ })).toHaveCount(0)
  await expect(page.getByRole('main').getByRole('link', { name: /API keys/ })).toHaveCount(0)
  await page.getByRole('link', { name: hostOf(receiver) }).click()
  await expect(page.getByText('No deliveries yet')).toBeVisible()
  await expect(page.getByRole('button', { name: /Send|Actions for/ })).toHaveCount(0)

  await enter(page, support, '/settings')
  await expect(page.getByRole('main').getByRole('link', { name: 'Set Up Integrations' })).toHaveCount(0)
  await page.goto(integrations)
  await expect(page.getByText('Your role does not include this page')).toBeVisible()
})

test('a manager is told which events are not sent, and a member with some apps chooses among them', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const tally = await vendor.createApp('Tally')
  await vendor.createApp('Ledger')
  const manager = await addMember(request, vendor, { role: 'manager', apps: [tally._id] })
  await enter(page, manager, `${integrations}?dialog=create`)
  const form = dialog(page, 'Create Webhook')
  await expect(form.getByText('they are not sent: Members, Plan and payments.')).toBeVisible()
  await form.getByText('Some events').click()
  await expect(form.getByText('Your role does not read these: not sent.')).toHaveCount(2)
  await expect(form.getByText('All apps')).toHaveCount(0)
  await choose(form, 'Add an app', 'Tally')
  await expect(form.getByRole('combobox', { name: 'Add an app' })).toHaveText('All are chosen')
})
