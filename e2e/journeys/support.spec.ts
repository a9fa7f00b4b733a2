import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIRequestContext, Page } from '@playwright/test'
import { textsTo } from '../../apps/server/test/mailed.ts'
import { startProcess } from '../../apps/server/test/server-process.ts'
import type { SmtpSink } from '../../apps/server/test/smtp-sink.ts'
import { Keyward } from '../../packages/sdk/src/index.ts'
import { Shop } from '../buying.ts'
import { expect, type Keyward as Running } from '../keyward.ts'
import { mailedLink, test, trustMails } from '../mailing.ts'
import { type Configuration, clockAhead, Tally } from '../program.ts'
import { type App, enter, expectToast, unique, Vendor } from '../steps.ts'

// The tickets of docs/support.md, each with a real browser and a real program. Only one of them needs the vendor.

interface Situation {
  vendor: Vendor
  app: App
  shop: Shop
  email: string
  /** Starts the customer's program on a machine. */
  run(machine: string, ...args: string[]): Tally
  configuration: Configuration
  text: string
}

/** A vendor who sells Tally in a shop, and a customer with a text to count. */
async function sold(
  request: APIRequestContext,
  keyward: Running,
  products: Record<string, object> = {
    home: { devices: 1, features: ['home'] },
    studio: { devices: 3, features: ['home', 'studio'] },
  },
): Promise<Situation> {
  const vendor = await Vendor.signUp(request)
  trustMails(keyward)
  const app = await vendor.createApp('Tally')
  await vendor.call('PUT', `/apps/${app._id}`, { settings: { customerPage: true } })
  const shop = await Shop.open(request, vendor, app, products)
  const keys = await request.get(`/api/client/apps/${app.appId}/keys`)
  const home = await mkdtemp(join(tmpdir(), 'keyward-support-'))
  const text = join(home, 'novel.md')
  await writeFile(text, 'four words of text\n')
  const configuration: Configuration = {
    baseUrl: keyward.url,
    appId: app.appId,
    secret: app.appSecret,
    publicKeys: JSON.stringify((await keys.json()).data.keys),
    home,
  }
  const run = (machine: string, ...args: string[]) =>
    new Tally({ ...configuration, home: join(home, machine) }, machine, ...args)
  return { vendor, app, shop, email: `${unique('ada')}@example.com`, run, configuration, text }
}

const keyForm = /\b[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}\b/

/** The key in the mail about an order, which is the buyer's mail with this number. */
async function mailedKey(mails: SmtpSink, email: string, number = 1): Promise<string> {
  const keys = () => textsTo(mails, email).flatMap((mail) => keyForm.exec(mail)?.[0] ?? [])
  await expect.poll(() => keys().length).toBe(number)
  return keys()[number - 1]!
}

async function signInByKey(page: Page, app: App, key: string) {
  await page.goto(`/u/${app.appId}`)
  await page.getByLabel('License key').last().fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Your license', exact: true })).toBeVisible()
}

/** Asks for the mailed link and opens it; it is the buyer's mail with this number that has a link. */
async function signInByMail(page: Page, mails: SmtpSink, app: App, email: string) {
  await page.goto(`/u/${app.appId}`)
  await page.getByText('Email link').click()
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await expect(page.getByText(`If you bought with ${email}`)).toBeVisible()
  await page.goto(await mailedLink(mails, email))
  await expect(page.getByText(`Signed in with ${email}`)).toBeVisible()
}

async function freeTheOnlyDevice(page: Page) {
  await page.getByRole('button', { name: /^Free / }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Free this device' }).click()
  await expect(page.getByText('was freed.')).toBeVisible()
}

const wordCount = 'novel.md'

test('a new computer: the customer frees the old one', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const { app, shop, email, run, text } = await sold(request, keyward)
  await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await run('old-computer', '--key', key, text).expectEnd(0, wordCount)
  await run('new-computer', '--key', key, text).expectEnd(3, '1 of 1 computers')
  await signInByKey(page, app, key)
  await expect(page.getByRole('heading', { name: 'The device does not match' })).toBeVisible()
  await freeTheOnlyDevice(page)
  await run('new-computer', '--key', key, text).expectEnd(0, wordCount)
})

test('Windows was installed again: the customer frees the device that it was', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const { app, shop, email, run, text } = await sold(request, keyward)
  await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await run('windows-before', '--key', key, text).expectEnd(0, wordCount)
  await run('windows-again', '--key', key, text).expectEnd(3, '1 of 1 computers')
  await signInByMail(page, mails, app, email)
  await freeTheOnlyDevice(page)
  await run('windows-again', '--key', key, text).expectEnd(0, wordCount)
})

test('a forgotten password: the customer chooses another one', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const { app, shop, email, configuration } = await sold(request, keyward)
  await shop.buy(email, 'home')
  const program = new Keyward({
    baseUrl: keyward.url,
    appId: app.appId,
    secret: app.appSecret,
    publicKeys: JSON.parse(configuration.publicKeys),
    version: '1.0.0',
    hwid: 'pc-1',
  })
  const username = unique('ada')
  const licenseKey = await mailedKey(mails, email)
  expect(await program.register({ username, password: 'forgotten soon', licenseKey })).toMatchObject({
    ok: true,
  })
  expect(await program.login({ username, password: 'not this one' })).toMatchObject({ code: 'passMismatch' })
  await signInByMail(page, mails, app, email)
  await page.getByLabel('New password').fill('remembered well')
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByText('Your password was changed.')).toBeVisible()
  expect(await program.login({ username, password: 'remembered well' })).toMatchObject({ ok: true })
})

test('a lost key: the mailed link shows it', { tag: '@full' }, async ({ page, request, keyward, mails }) => {
  const { app, shop, email, run, text } = await sold(request, keyward)
  const order = await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await signInByMail(page, mails, app, email)
  await expect(page.getByRole('heading', { name: `Order ${order}` })).toBeVisible()
  const shown = await page.getByText(keyForm).first().textContent()
  expect(shown).toContain(key)
  await run('pc', '--key', keyForm.exec(shown!)![0], text).expectEnd(0, wordCount)
})

test('bought twice: the second order is refunded in the shop, and the first key goes on', {
  tag: '@full',
}, async ({ page, request, keyward, mails }) => {
  const { app, shop, email, run, text } = await sold(request, keyward)
  await shop.buy(email, 'home')
  const first = await mailedKey(mails, email)
  const again = await shop.buy(email, 'home')
  const second = await mailedKey(mails, email, 2)
  expect(second).not.toBe(first)
  await run('pc', '--key', first, text).expectEnd(0, wordCount)
  await shop.tell('order.refunded', again)
  await signInByMail(page, mails, app, email)
  await expect(page.getByText('Refunded')).toBeVisible()
  await run('another', '--key', second, text).expectEnd(3, 'Reference: ')
  await run('pc', text).expectEnd(0, wordCount)
})

test('a refund: the page says why the key is blocked', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const { app, shop, email, run, text } = await sold(request, keyward)
  const order = await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await run('pc', '--key', key, text).expectEnd(0, wordCount)
  await shop.tell('order.refunded', order)
  await expect(async () => run('pc', text).expectEnd(3, 'Reference: ')).toPass()
  await signInByMail(page, mails, app, email)
  await expect(page.getByRole('heading', { name: 'Why the program does not start' })).toBeVisible()
  await expect(page.getByText(/ is blocked$/).first()).toBeVisible()
  await expect(page.getByText('after a refund')).toBeVisible()
})

test('expired and renewed: the shop renews, and the program goes on', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const { vendor, app, shop, email, run, text } = await sold(request, keyward)
  const order = await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await run('pc', '--key', key, text).expectEnd(0, wordCount)
  const { licenses } = await vendor.call('GET', `/licenses?search=${key}`)
  await vendor.call('PUT', `/licenses/${licenses[0]._id}`, { expiresAt: '2001-01-01' })
  await run('pc', text).expectEnd(3, 'Your license ended')
  await signInByKey(page, app, key)
  await expect(page.getByRole('heading', { name: 'Your license has expired' })).toBeVisible()
  const until = new Date(Date.now() + 30 * 86_400_000).toISOString()
  await shop.tell('subscription.renewed', order, { until })
  await expect(async () => run('pc', text).expectEnd(0, wordCount)).toPass()
  await page.reload()
  await expect(page.getByText('Active', { exact: true })).toBeVisible()
})

test('a laptop that was asleep for a month goes on once it is online', { tag: '@full' }, async ({
  playwright,
  serverOf,
  mails,
}) => {
  const environment = { SMTP_URL: `smtp://${mails.host}`, LOG_LEVEL: 'fatal' }
  const keyward = await serverOf(environment)
  const request = await playwright.request.newContext({ baseURL: keyward.url })
  const { shop, email, run, configuration, text } = await sold(request, keyward)
  await shop.buy(email, 'home')
  await run('laptop', '--key', await mailedKey(mails, email), text).expectEnd(0, wordCount)
  await keyward.stop()
  const awake = { ...configuration, home: join(configuration.home, 'laptop'), clockDays: 30 }
  await new Tally(awake, 'laptop', text).expectEnd(2, 'Go online, then start Tally again.')
  const later = await startProcess({
    ...environment,
    PORT: new URL(keyward.url).port,
    HOST: '127.0.0.1',
    DATA_DIR: keyward.dataDir,
    NODE_OPTIONS: clockAhead(30),
  })
  await new Tally(awake, 'laptop', text).expectEnd(0, wordCount)
  await later.end('SIGTERM')
  await keyward.start()
  await request.dispose()
})

test('a machine without a network: the page answers its request', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const { app, shop, email, configuration, text } = await sold(request, keyward)
  await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  // Nothing listens there.
  const offline = { ...configuration, baseUrl: 'http://127.0.0.1:9' }
  const run = (...args: string[]) => new Tally(offline, 'never-online', ...args)
  const asked = run('--offline-request', key)
  await asked.expectEnd(0, 'KWR1-')
  await signInByKey(page, app, key)
  await page.getByLabel('Activation request').fill(asked.text)
  await page.getByRole('button', { name: 'Make the answer' }).click()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the answer' }).click()
  const file = join(configuration.home, 'tally.kwa')
  await (await saved).saveAs(file)
  await run('--activate', file).expectEnd(0, 'Activated')
  await run(text).expectEnd(0, wordCount)
})

test('a wrong clock: the program says so, and goes on once it is right', { tag: '@full' }, async ({
  request,
  keyward,
  mails,
}) => {
  const { shop, email, run, configuration, text } = await sold(request, keyward)
  await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await run('pc', '--key', key, text).expectEnd(0, wordCount)
  const home = join(configuration.home, 'pc')
  const unplugged = { ...configuration, baseUrl: 'http://127.0.0.1:9', home }
  await new Tally({ ...unplugged, clockDays: -2 }, 'pc', text).expectEnd(
    2,
    'The clock of this computer is behind.',
  )
  await new Tally(unplugged, 'pc', text).expectEnd(0, wordCount)
  await new Tally({ ...unplugged, baseUrl: keyward.url, clockDays: -2 }, 'pc', text).expectEnd(0, wordCount)
})

test('banned by mistake: one click of the vendor ends it', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const { vendor, app, shop, email, run, text } = await sold(request, keyward)
  await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await run('pc', '--key', key, text).expectEnd(0, wordCount)
  const { licenses } = await vendor.call('GET', `/licenses?search=${key}`)
  await vendor.call('PATCH', `/licenses/${licenses[0]._id}/toggle-ban`)
  await run('pc', text).expectEnd(3, 'Reference: ')
  await page.goto(`/u/${app.appId}`)
  await page.getByLabel('What does the program say?').selectOption({ label: 'Your license key is blocked' })
  await expect(page.getByText('write to the maker and name your order')).toBeVisible()

  await enter(page, vendor, `/licenses/${licenses[0]._id}`)
  await page.getByRole('button', { name: 'Unban License' }).click()
  await expectToast(page, 'License Unbanned')
  await run('pc', text).expectEnd(0, wordCount)
})

test('the wrong edition: the customer changes it in the shop', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const { app, shop, email, run, text } = await sold(request, keyward)
  const order = await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await run('pc', '--key', key, text).expectEnd(0, wordCount)
  await run('laptop', '--key', key, text).expectEnd(3, '1 of 1 computers')
  const until = new Date(Date.now() + 30 * 86_400_000).toISOString()
  await shop.tell('subscription.changed', order, { product: 'studio', until })
  await expect(async () => run('laptop', '--key', key, text).expectEnd(0, wordCount)).toPass()
  await signInByKey(page, app, key)
  await expect(page.getByRole('heading', { name: 'studio' })).toBeVisible()
  await expect(page.getByText('2 of 3 places are taken.')).toBeVisible()
})

const inAYear = { term: 'first_use', duration: { value: 1, unit: 'years' } }
const yearMs = 365 * 86_400_000

/** The reference in the link that a refused program shows. */
async function referenceOf(program: Tally, link: string): Promise<string> {
  await program.expectEnd(3, `${link}?reference=kwr_`)
  return /kwr_[\w-]+/.exec(program.text)![0]
}

test('renewed by the link of the refusal: the same key goes on', { tag: '@full' }, async ({
  page,
  request,
  keyward,
  mails,
}) => {
  const renewUrl = 'https://shop.example/renew'
  const { vendor, shop, email, run, text } = await sold(request, keyward, { home: { ...inAYear, renewUrl } })
  await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await run('pc', '--key', key, text).expectEnd(0, wordCount)
  const found = async () => (await vendor.call('GET', `/licenses?search=${key}`)).licenses
  const [{ _id }] = await found()
  await vendor.call('PUT', `/licenses/${_id}`, { expiresAt: '2001-01-01' })
  const reference = await referenceOf(run('pc', text), renewUrl)
  const order = await shop.buy(email, 'home', { reference })
  await expect(async () => run('pc', text).expectEnd(0, wordCount)).toPass()
  const [{ expiresAt }, ...others] = await found()
  expect(others).toEqual([])
  expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(0.99 * yearMs)
  expect((await vendor.call('GET', '/licenses')).licenses).toHaveLength(1)
  await enter(page, vendor, `/orders?search=${order}`)
  await expect(page.getByRole('row').filter({ hasText: order })).toContainText('Fulfilled')
})

test('more than was bought: the link of the refusal upgrades the same key', { tag: '@full' }, async ({
  request,
  keyward,
  mails,
}) => {
  const { vendor, app, shop, email, run, text } = await sold(request, keyward, {
    home: { ...inAYear, devices: 1 },
    studio: { ...inAYear, devices: 3 },
  })
  const { licenseTypes } = await vendor.call('GET', `/apps/${app._id}/license-types`)
  const idOf = (name: string) => licenseTypes.find((type: { name: string }) => type.name === name)._id
  const upgrades = [{ type: idOf('studio'), name: 'Studio', url: 'https://shop.example/studio' }]
  await vendor.call('PUT', `/license-types/${idOf('home')}`, { upgrades })
  await shop.buy(email, 'home')
  const key = await mailedKey(mails, email)
  await run('pc', '--key', key, text).expectEnd(0, wordCount)
  const reference = await referenceOf(run('laptop', '--key', key, text), upgrades[0]!.url)
  await shop.buy(email, 'studio', { reference })
  await expect(async () => run('laptop', '--key', key, text).expectEnd(0, wordCount)).toPass()
  expect((await vendor.call('GET', '/licenses')).licenses).toHaveLength(1)
})
