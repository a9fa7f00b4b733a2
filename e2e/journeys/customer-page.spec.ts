import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from '@playwright/test'
import { newShopSecret, paid, signedRequest } from '../../apps/server/test/shop-events.ts'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { mailedLink, test, trustMails } from '../mailing.ts'
import { Tally } from '../program.ts'
import {
  type App,
  enter,
  expectToast,
  heading,
  Program,
  part,
  readClipboard,
  unique,
  Vendor,
} from '../steps.ts'

/** A vendor with an app whose page is on. */
async function openPage(request: Parameters<typeof Vendor.signUp>[0], settings: object = {}) {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await vendor.call('PUT', `/apps/${app._id}`, { settings: { customerPage: true, ...settings } })
  return { vendor, app }
}

async function signInByKey(page: Page, app: App, key: string) {
  await page.goto(`/u/${app.appId}`)
  await page.getByLabel('License key', { exact: true }).last().fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(heading(page, 'Your license for Tally')).toBeFocused()
}

async function signInByPassword(page: Page, username: string, password: string) {
  await page.getByLabel('Username and password').check()
  await page.getByLabel('Username', { exact: true }).fill(username)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const narrow = { width: 320, height: 640 }

test('new computer: the key opens the page, which explains the refusal and frees the old device', {
  tag: '@phone',
}, async ({ page, request }) => {
  const { vendor, app } = await openPage(request, { brandColor: '#ffd54a' })
  const [license] = await vendor.createLicenses(app)
  const program = await Program.start(request, app)
  const start = (hwid: string) => program.call('POST', '/license', { licenseKey: license!.key, hwid })
  expect((await start('old-computer')).status).toBe(200)
  expect((await start('new-computer')).body.code).toBe('hwidMismatch')

  await page.setViewportSize(narrow)
  await page.goto(`/u/${app.appId}`)
  await expect(heading(page, 'Sign in')).toBeVisible()
  await expectAccessible(page, 'sign-in')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('Please fill in this field.')).toBeVisible()
  const field = page.getByRole('textbox', { name: 'License key' })
  await expect(field).toBeFocused()
  await field.fill('NO-SUCH-KEY')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('This key is not correct.')).toBeVisible()
  await expectStateAccessible(page, 'sign-in with a mistake')
  await field.fill(license!.key)
  await page.getByRole('button', { name: 'Sign in' }).click()

  await expect(heading(page, 'Your license for Tally')).toBeFocused()
  await expect(part(page, 'Your license')).toContainText(license!.key)
  await expect(part(page, 'Your license')).toContainText('Active')
  await expect(part(page, 'Devices')).toContainText('1 of 1 places are taken.')
  // The log of activity is written in batches.
  await expect(async () => {
    await page.reload()
    await expect(part(page, 'The last time the program did not start')).toContainText(
      'Free a device that you no longer use',
      { timeout: 2000 },
    )
  }).toPass()
  await expect(part(page, 'The last time the program did not start')).toContainText('name the reference')
  await expectAccessible(page, 'account')

  const free = page.getByRole('button', { name: 'Free Unnamed device' })
  await free.click()
  const question = page.getByRole('dialog', { name: 'Free Unnamed device?' })
  await expectAccessible(page, 'the question')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(question).toHaveCount(0)
  expect((await start('new-computer')).body.code).toBe('hwidMismatch')
  await free.click()
  await question.getByRole('button', { name: 'Free this device' }).click()
  await expect(page.getByRole('status')).toHaveText('Unnamed device was freed.')
  await expect(part(page, 'Devices')).toContainText('0 of 1 places are taken.')
  expect((await start('new-computer')).status).toBe(200)
})

test('the page shows what an added key gives, and until when', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
}) => {
  const { vendor, app } = await openPage(request)
  const [license] = await vendor.createLicenses(app)
  const [cloud] = await vendor.createLicenses(app, 1, 10)
  await vendor.call('PUT', `/licenses/${cloud!._id}`, { features: ['cloud', 'export'], devices: 3 })
  const program = await Program.start(request, app)
  await program.register('erik', license!)
  await program.call('POST', '/upgrade', { username: 'erik', licenseKey: cloud!.key })
  await signInByKey(page, app, license!.key)
  const added = part(page, 'Added keys')
  await expect(added).toContainText('Includescloud, exportDevices3Valid until')
  const ten = new Date(Date.now() + 10 * 86_400_000)
  await expect(added).toContainText(ten.toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' }))
  await expect(page.getByRole('main')).not.toContainText(cloud!.key)
  await expectStateAccessible(page, 'the page with an added key')
})

test('forgotten password: a mailed link opens keys and orders once, and sets a new password', {
  tag: '@phone',
}, async ({ page, request, mails, keyward }) => {
  const { vendor, app } = await openPage(request)
  trustMails(keyward)
  const email = `${unique('buyer')}@example.com`
  const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, {
    name: 'Pro',
    term: 'forever',
  })
  const secret = newShopSecret()
  const { shop } = await vendor.call('POST', `/apps/${app._id}/shops`, {
    ...{ kind: 'custom', name: 'My shop', secret },
    products: [{ product: 'pro', type: licenseType._id }],
  })
  const { payload, headers } = signedRequest(
    secret,
    paid('4711', { email, amount: 1999, currency: 'EUR' }),
    new Date(),
  )
  expect((await request.post(shop.hook, { data: payload, headers })).status()).toBe(200)
  let key = ''
  await expect
    .poll(async () => {
      const { orders } = await vendor.call('GET', '/orders?search=4711')
      key = orders[0]?.licenses[0]?.key ?? ''
      return orders[0]?.state
    })
    .toBe('fulfilled')
  const program = await Program.start(request, app)
  const sent = { username: 'ada', password: 'forgotten-1', licenseKey: key, hwid: 'pc' }
  expect((await program.call('POST', '/register', sent)).status).toBeLessThan(300)

  await page.setViewportSize(narrow)
  await page.goto(`/u/${app.appId}`)
  await page.getByLabel('Email link').check()
  await page.getByLabel('Email address').fill('no address')
  await page.getByRole('button', { name: 'Send the link' }).click()
  await expect(page.getByText('Please enter an email address.')).toBeVisible()
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await expect(page.getByRole('status')).toContainText(`If you bought with ${email}`)

  const link = await mailedLink(mails, email)
  expect(link).toContain(`/u/${app.appId}#`)
  await page.goto(link)
  await expect(part(page, 'Your license')).toContainText(key)
  expect(page.url()).not.toContain('#')
  expect(await page.evaluate('history.length')).toBeLessThanOrEqual(3)
  await expect(part(page, 'Your license')).toContainText('Never expires')
  await expect(part(page, 'Your orders')).toContainText('Order 4711')
  await expect(part(page, 'Your orders')).toContainText('· Pro')
  await expect(part(page, 'Your orders')).toContainText('€19.99')
  await part(page, 'Your orders')
    .getByRole('button', { name: `Copy ${key}` })
    .click()
  expect(await readClipboard(page)).toBe(key)
  await expectStateAccessible(page, 'a mailed customer')

  const password = part(page, 'Password')
  await password.getByLabel('New password').fill('short')
  await password.getByRole('button', { name: 'Change password' }).click()
  await expect(password).toContainText('The new password is too short.')
  await password.getByLabel('New password').fill('remembered-2')
  await password.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByRole('status')).toContainText('Your password was changed.')
  // The new password has ended the session of the program.
  const again = await Program.start(request, app)
  const login = (text: string) =>
    again.call('POST', '/login', { username: 'ada', password: text, hwid: 'pc' })
  expect((await login('forgotten-1')).body.code).toBe('passMismatch')
  expect((await login('remembered-2')).status).toBe(200)

  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(heading(page, 'Sign in')).toBeFocused()
  await expect(page.getByRole('status')).toHaveText('You are signed out.')
  await page.goto(link)
  await expect(page.getByRole('status')).toContainText('This link has expired or was already used.')
  await expect(page.getByLabel('Email address')).toBeVisible()
  await expectStateAccessible(page, 'a used link')
})

test('an end user signs in by password, changes it, and stays signed in over a reload', {
  tag: '@full',
}, async ({ page, request }) => {
  const { vendor, app } = await openPage(request)
  await vendor.createEndUser(app, 'amy')
  await page.goto(`/u/${app.appId}`)
  await signInByPassword(page, 'amy', 'wrong password')
  await expect(page.getByRole('alert')).toHaveText('The username or the password is not correct.')
  await signInByPassword(page, 'amy', 'end-user-password')
  await expect(page.getByText('Signed in as amy')).toBeVisible()
  await page.reload()
  await expect(page.getByText('Signed in as amy')).toBeVisible()

  const password = part(page, 'Password')
  await password.getByLabel('Current password').fill('wrong password')
  await password.getByLabel('New password').fill('a-new-password')
  await password.getByRole('button', { name: 'Change password' }).click()
  await expect(password).toContainText('This is not your current password.')
  await password.getByLabel('Current password').fill('end-user-password')
  await password.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByRole('status')).toContainText('Your password was changed.')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signInByPassword(page, 'amy', 'a-new-password')
  await expect(page.getByText('Signed in as amy')).toBeVisible()
})

test('several end users are told apart, a floating license says so, and a limit names its date', {
  tag: '@full',
}, async ({ page, request, mails, keyward }) => {
  const { vendor, app } = await openPage(request, { customerDevices: 1 })
  trustMails(keyward)
  const email = `${unique('buyer')}@example.com`
  const type = await vendor.call('POST', `/apps/${app._id}/license-types`, {
    ...{ name: 'Team', term: 'forever', seats: 5 },
  })
  const [adas, bobs, unused] = await vendor.createLicenses(app, 3)
  const floating = (await vendor.call('POST', '/licenses', { app: app._id, type: type.licenseType._id }))
    .license
  for (const { _id } of [adas!, bobs!, unused!, floating])
    await vendor.call('PUT', `/licenses/${_id}`, { customer: email })
  const register = async (username: string, licenseKey: string) => {
    const program = await Program.start(request, app)
    const sent = { username, password: 'end-user-password', licenseKey, hwid: `${username}-pc` }
    expect((await program.call('POST', '/register', sent)).status).toBeLessThan(300)
  }
  await register('ada', adas!.key)
  await register('bob', bobs!.key)
  const start = async (licenseKey: string) => {
    const program = await Program.start(request, app)
    return program.call('POST', '/license', { licenseKey, hwid: 'shared-pc' })
  }
  expect((await start(floating.key)).status).toBe(200)
  await vendor.call('PATCH', `/licenses/${unused!._id}/toggle-ban`, { reason: 'Chargeback' })
  expect((await start(unused!.key)).body.code).toBe('keyBanned')
  await vendor.call('PATCH', `/licenses/${unused!._id}/toggle-ban`)

  await page.goto(`/u/${app.appId}`)
  await page.getByLabel('Email link').check()
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await page.goto(await mailedLink(mails, email))
  await expect(part(page, 'Your licenses')).toContainText(floating.key)
  await expect(part(page, 'Devices of ada')).toContainText('1 of 1 places are taken.')
  await expect(part(page, 'Password of ada')).toBeVisible()
  await expect(part(page, 'Password of bob')).toBeVisible()
  await expect(page.getByRole('main')).toContainText('works on any device, on as many at the same time')
  // The log of activity is written in batches.
  const refused = part(page, 'The last time the program did not start')
  await expect(async () => {
    await page.reload()
    await expect(refused).toContainText(unused!.key, { timeout: 2000 })
  }).toPass()
  await expect(refused).toContainText('Solved: this reason no longer applies.')
  await expectAccessible(page, 'several end users')

  await part(page, 'Devices of bob').getByRole('button', { name: 'Free Unnamed device' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Free this device' }).click()
  await expect(page.getByRole('status')).toHaveText('Unnamed device was freed.')
  const until = new Intl.DateTimeFormat('en-US', { dateStyle: 'long' }).format(Date.now() + 30 * 86_400_000)
  await expect(part(page, 'Devices of bob')).toContainText(`You can free the next one on ${until}`)
  await expect(part(page, 'Devices of ada').getByRole('button', { name: /^Free/ })).toBeVisible()
})

test("the vendor's link asks for a new password, and for the current one once it is set", async ({
  page,
  request,
  mails,
  keyward,
}) => {
  const { vendor, app } = await openPage(request)
  trustMails(keyward)
  const client = await vendor.createEndUser(app, 'amy')
  const email = `${unique('amy')}@example.com`
  await vendor.call('PATCH', `/clients/${client._id}`, { email })
  await vendor.call('PUT', `/clients/${client._id}/password`, { mail: true })
  await page.goto(await mailedLink(mails, email))
  const choosing = part(page, 'Choose a password')
  await choosing.getByLabel('New password').fill('a-new-password')
  await choosing.getByRole('button', { name: 'Save the password' }).click()
  await expect(page.getByRole('status')).toContainText('Your password was changed.')
  await expect(choosing).toHaveCount(0)
  await expect(part(page, 'Password').getByLabel('Current password')).toBeVisible()
})

test('a machine that is never online gets its answer as a file', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const { vendor, app } = await openPage(request)
  const [license, blocked] = await vendor.createLicenses(app, 2)
  const home = await mkdtemp(join(tmpdir(), 'keyward-page-'))
  const text = join(home, 'novel.md')
  await writeFile(text, 'four words of text\n')
  const keys = await request.get(`/api/client/apps/${app.appId}/keys`)
  const offline = {
    // Nothing listens there.
    baseUrl: 'http://127.0.0.1:9',
    appId: app.appId,
    secret: app.appSecret,
    publicKeys: JSON.stringify((await keys.json()).data.keys),
    home,
  }
  const ask = async (key: string, machine = 'never-online') => {
    const tally = new Tally({ ...offline, home: `${home}/${machine}` }, machine, '--offline-request', key)
    await tally.expectEnd(0, 'KWR1-')
    return tally.text
  }
  await signInByKey(page, app, license!.key)
  const card = part(page, 'A computer without internet')
  const send = card.getByRole('button', { name: 'Make the answer' })
  await card.getByLabel('Activation request').fill('KWR1-HELLO')
  await send.click()
  await expect(card).toContainText('This is no activation request.')
  // A key of its own opens no machine of another key.
  await card.getByLabel('Activation request').fill(await ask(blocked!.key, 'foreign'))
  await send.click()
  await expect(card.getByRole('textbox')).toHaveAttribute('aria-invalid', 'true')

  const requestFile = join(home, 'request.txt')
  await writeFile(requestFile, await ask(license!.key))
  await card.getByLabel('Or choose the file with the request').setInputFiles(requestFile)
  await expect(card.getByRole('textbox')).toHaveValue(/^KWR1-/)
  await send.click()
  await expect(card).toContainText('The answer is ready.')
  await expectAccessible(page, 'an answer')
  const saved = page.waitForEvent('download')
  await card.getByRole('button', { name: 'Download the answer' }).click()
  const file = join(home, 'answer.kwa')
  await (await saved).saveAs(file)
  expect(await readFile(file, 'utf8')).not.toBe('')
  const run = (...args: string[]) =>
    new Tally({ ...offline, home: `${home}/never-online` }, 'never-online', ...args)
  await run('--activate', file).expectEnd(0, 'Activated until')
  await run(text).expectEnd(0, 'novel.md')
})

test('the page speaks the language of the browser, and keeps the one that was chosen', {
  tag: ['@full', '@phone'],
}, async ({ browser, request, keyward }) => {
  const { vendor, app } = await openPage(request)
  const [license] = await vendor.createLicenses(app)
  const context = await browser.newContext({ locale: 'de-AT', viewport: narrow, baseURL: keyward.url })
  const page = await context.newPage()
  await page.goto(`/u/${app.appId}`)
  await expect(heading(page, 'Anmelden')).toBeVisible()
  await expect(page.locator('html')).toHaveAttribute('lang', 'de')
  await page.getByRole('textbox', { name: 'Lizenzschlüssel' }).fill(license!.key)
  await page.getByRole('button', { name: 'Anmelden' }).click()
  const end = (tag: string) =>
    new Intl.DateTimeFormat(tag, { dateStyle: 'long' }).format(new Date(license!.expiresAt))
  await expect(part(page, 'Ihre Lizenz')).toContainText(end('de-AT'))
  for (const [code, tag, title, language] of [
    ['es', 'es', 'Tu licencia de Tally', 'Idioma'],
    ['pt', 'pt-BR', 'Sua licença do Tally', 'Idioma'],
    ['zh', 'zh-Hans', '您的 Tally 许可证', '语言'],
  ] as const) {
    await page.locator('header select').selectOption(code)
    await expect(heading(page, title)).toBeVisible()
    await expect(page.locator('html')).toHaveAttribute('lang', tag)
    await expect(page.getByLabel(language)).toBeFocused()
    await expect(page.getByRole('main')).toContainText(end(tag))
    await expectAccessible(page, code)
  }
  await page.reload()
  await expect(heading(page, '您的 Tally 许可证')).toBeVisible()
  await page.locator('#refusal').selectOption('noSeats')
  await expect(page.getByRole('main')).toContainText('请在其他电脑上关闭软件')
  await context.close()
})

test('a page that is off looks like one that does not exist, and an ended session asks to sign in', {
  tag: '@full',
}, async ({ page, request }) => {
  const { vendor, app } = await openPage(request)
  const [license] = await vendor.createLicenses(app)
  const turn = (customerPage: boolean) =>
    vendor.call('PUT', `/apps/${app._id}`, { settings: { customerPage } })
  await signInByKey(page, app, license!.key)
  await vendor.call('PATCH', `/licenses/${license!._id}/toggle-ban`, { is_banned: true })
  await page.reload()
  await expect(page.getByRole('status')).toHaveText('Your sign-in has ended. Please sign in again.')
  await page.getByRole('textbox', { name: 'License key' }).fill(license!.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('alert')).toContainText('The maker has blocked this key')
  await expect(page.getByRole('alert')).toContainText('It says “')
  const texts: string[] = []
  await turn(false)
  for (const path of [`/u/${app.appId}`, '/u/ZZZZZZZZ']) {
    await page.goto(path)
    await expect(heading(page, 'There is no page at this address')).toBeVisible()
    texts.push(await page.locator('body').innerText())
  }
  expect(texts[0]).toBe(texts[1])
})

test('an owner turns the page on, chooses its color, and opens it without sharing its session', {
  tag: '@full',
}, async ({ page, context, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const [license] = await vendor.createLicenses(app)
  await enter(page, vendor, `/apps/${app._id}?tab=customers`)
  const settings = part(page, 'Customer Page')
  await expect(settings.getByRole('link', { name: 'Open Page' })).toHaveCount(0)
  await settings.getByRole('switch', { name: 'Customer Page' }).click()
  await expectToast(page, 'App settings updated successfully')
  await settings.getByLabel('Devices to Free').fill('1')
  await settings.getByLabel('Page Color').fill('#0a4d2c')
  await settings.getByRole('button', { name: 'Save Settings' }).click()
  await expectToast(page, 'App settings updated successfully')
  await expectAccessible(page, 'the settings of the page')
  const stored = (await vendor.call('GET', `/apps/${app._id}`)).app.settings
  expect(stored).toMatchObject({ customerPage: true, customerDevices: 1, brandColor: '#0a4d2c' })
  await settings.getByRole('button', { name: 'Copy page address' }).click()
  expect(await readClipboard(page)).toMatch(new RegExp(`/u/${app.appId}$`))

  const opened = context.waitForEvent('page')
  await settings.getByRole('link', { name: 'Open Page' }).click()
  const shown = await opened
  const tokens: string[] = []
  shown.on('request', (sent) => tokens.push(sent.headers().authorization ?? ''))
  await signInByKey(shown, app, license!.key)
  const color = await shown.evaluate(`getComputedStyle(document.querySelector('.primary')).backgroundColor`)
  expect(color).toBe('rgb(10, 77, 44)')
  expect(tokens.join()).not.toContain(vendor.token)
  const inStorage = await shown.evaluate<string[]>('Object.keys(localStorage)')
  expect(inStorage.filter((name) => name.includes('customer'))).toEqual([])
  await settings.getByRole('button', { name: 'Use the Default' }).click()
  await settings.getByRole('button', { name: 'Save Settings' }).click()
  await expectToast(page, 'App settings updated successfully')
  expect((await vendor.call('GET', `/apps/${app._id}`)).app.settings.brandColor).toBeNull()
})

test('the page requests at most 60 kB of JavaScript, and nothing of the console', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const { vendor, app } = await openPage(request)
  const [license] = await vendor.createLicenses(app)
  const scripts: { url: string; size: Promise<number> }[] = []
  page.on('response', (response) => {
    if (response.request().resourceType() !== 'script') return
    const size = response.body().then((body) => gzipSync(body, { level: 9 }).length)
    scripts.push({ url: new URL(response.url()).pathname, size })
  })
  await signInByKey(page, app, license!.key)
  for (const code of ['de', 'es', 'pt', 'zh', 'en']) {
    await page.locator('header select').selectOption(code)
    await expect(page.locator('html')).toHaveAttribute('lang', new RegExp(`^${code}`))
  }
  await expect(heading(page, 'Your license for Tally')).toBeVisible()
  const sizes = await Promise.all(scripts.map(({ size }) => size))
  const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1000
  expect(kilobytes).toBeLessThanOrEqual(60)
  expect(kilobytes).toBeGreaterThan(15)
  const foreign = scripts
    .map(({ url }) => url)
    .filter((url) => !/^\/(assets\/customer\/|theme\.js$)/.test(url))
  expect(foreign).toEqual([])
})
