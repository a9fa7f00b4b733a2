import { expectAccessible, expectStateAccessible, expectToFit } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { appTabs } from '../pages.ts'
import { createReseller, premiumVendor, Seller } from '../reseller.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  figure,
  heading,
  inDays,
  keyPrefix,
  navigate,
  Program,
  part,
  pauseApp,
  row,
  rowAction,
  settle,
  shownDate,
  Vendor,
  visit,
} from '../steps.ts'

test('the page of a license shows everything about it, and offers every action', {
  tag: '@phone',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const expiresAt = inDays(30).toISOString()
  const { license } = await vendor.call('POST', '/licenses', { app: app._id, expiresAt, note: 'Order 2214' })
  const program = await Program.start(request, app)
  await program.register('erik', license, 'machine-1')
  await enter(page, vendor, '/licenses')
  await page.getByRole('link', { name: keyPrefix(license.key) }).click()
  await expect(page).toHaveURL(`/licenses/${license._id}`)
  await expect(heading(page, keyPrefix(license.key))).toBeVisible()
  const main = page.getByRole('main')
  for (const text of ['Active', license.key, 'Order 2214', 'Registered', shownDate(inDays(30))]) {
    await expect(main).toContainText(text)
  }
  await expect(main).toContainText('1 of 1 in use')
  await expect(main).toContainText(/Device bound.*Registered.*Licenses created/)
  await expectStateAccessible(page, 'the page of a license')
  const title = await heading(page, keyPrefix(license.key)).boundingBox()
  const menu = await page.getByRole('button', { name: /^Actions for/ }).boundingBox()
  expect(menu!.y).toBeLessThan(title!.y + title!.height)

  await page.getByRole('button', { name: 'Extend License' }).click()
  const extend = dialog(page, 'Extend License')
  await extend.getByText('Other', { exact: true }).click()
  await extend.getByLabel('Extend By').fill('5')
  await extend.getByRole('button', { name: 'Extend License' }).click()
  await expect(main).toContainText(shownDate(inDays(35)))
  await rowAction(page, keyPrefix(license.key), 'Ban License')
  await dialog(page, 'Ban License').getByRole('button', { name: 'Ban License' }).click()
  await expectToast(page, 'License Banned')
  await expect(main).toContainText('Banned')
  await rowAction(page, keyPrefix(license.key), 'Delete License')
  await dialog(page, 'Delete License').getByRole('button', { name: 'Delete License' }).click()
  await expectToast(page, 'License Deleted')
  await expect(page).toHaveURL('/licenses')
  await expect(page.getByText('No licenses found')).toBeVisible()
})

test('the page of an end user lists its devices and frees one', { tag: ['@full', '@phone'] }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const [license] = await vendor.createLicenses(app)
  const program = await Program.start(request, app)
  await program.register('erik', license!, 'machine-1')
  await enter(page, vendor, '/users')
  await page.getByRole('link', { name: 'erik' }).click()
  await expect(heading(page, 'erik')).toBeVisible()
  const main = page.getByRole('main')
  for (const text of ['Tally', license!.key, 'machine-1', '1 of 1 in use', 'Joined']) {
    await expect(main).toContainText(text)
  }
  await expectAccessible(page, 'the page of an end user')
  expect(await program.login('erik', 'machine-2')).toMatchObject({ body: { code: 'hwidMismatch' } })
  await page.getByRole('button', { name: 'Free Unnamed device' }).click()
  await dialog(page, 'Free Unnamed device?').getByRole('button', { name: 'Free Device' }).click()
  await expectToast(page, 'Device Freed')
  await expect(main).toContainText('No devices')
  expect(await program.login('erik', 'machine-2')).toMatchObject({ body: { success: true } })

  await rowAction(page, 'erik', 'Pause Subscription')
  await expectToast(page, 'Subscription Paused')
  expect(await program.login('erik', 'machine-2')).toMatchObject({ body: { code: 'pausedSub' } })
  await rowAction(page, 'erik', 'Resume Subscription')
  await expectToast(page, 'Subscription Resumed')
  expect(await program.login('erik', 'machine-2')).toMatchObject({ body: { success: true } })
  await rowAction(page, 'erik', 'Delete')
  await dialog(page, 'Delete erik?').getByRole('button', { name: 'Delete User' }).click()
  await expectToast(page, 'User Deleted')
  await expect(page).toHaveURL('/users')
})

test('the page of an app shows its facts, figures and snippet, and leads to its lists', {
  tag: ['@full', '@phone'],
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  await vendor.createLicenses(app, 3)
  const seller = await Seller.signIn(request, await createReseller(vendor, app))
  await seller.generate(1)
  await enter(page, vendor, '/dashboard')
  await row(page, app.appId).getByRole('link', { name: 'Tally' }).click()
  await expect(page).toHaveURL(`/apps/${app._id}`)
  await expect(figure(page, 'Licenses')).toContainText('4')
  await expect(figure(page, 'Resellers')).toContainText('1')
  await expect(page.getByRole('main')).toContainText(app.appId)
  await expect(page.locator('pre').last()).toContainText(`appId: '${app.appId}'`)
  await expectAccessible(page, 'the page of an app')
  const tab = (name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) })
  await expect(page.getByRole('tablist', { name: 'Tabs of Tally' }).getByRole('tab')).toHaveText([
    'Overview',
    'Types',
    'Shops',
    'Customers',
    'Program',
    'Settings',
    'History',
  ])
  await tab('Overview').focus()
  await page.keyboard.press('ArrowRight')
  await expect(tab('Types')).toBeFocused()
  await expect(page).toHaveURL(`/apps/${app._id}?tab=types`)
  await expect(page.getByText('No license types yet')).toBeVisible()
  const another = page.getByRole('button', { name: 'New Type' })
  await expect(another).toHaveCount(0)
  await page.getByRole('button', { name: 'Create Your First Type' }).click()
  const form = dialog(page, 'New License Type')
  await form.getByLabel('Name').fill('Pro')
  await form.getByRole('button', { name: /^(Create|Save)/ }).click()
  const typeList = page.getByRole('list', { name: 'License types' })
  await expect(typeList).toContainText('Pro')
  await expect(another).toBeVisible()
  await vendor.call('POST', `/apps/${app._id}/license-types`, { name: 'Studio', term: 'forever' })
  await expect(typeList).toContainText('Studio')
  await pauseApp(page, 'Tally')
  await expectToast(page, 'App paused successfully')
  await expect(page.getByRole('main').locator('header').first()).toContainText('Paused')
  // On phones the button would cover those that save a tab.
  await expect(page.getByRole('link', { name: 'Generate License' })).toHaveCount(0)
  await tab('Overview').click()
  await page.getByRole('link', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Generate License')).toBeVisible()
  await page.keyboard.press('Escape')
  await page.goBack()
  await page.getByRole('tab', { name: 'Overview' }).click()
  await page.getByRole('link', { name: 'Show Licenses' }).click()
  await expect(page).toHaveURL(`/licenses?app=${app._id}`)

  await page.goto(`/apps/${app._id}?dialog=delete-app&id=${app._id}`)
  const question = dialog(page, 'Delete Application')
  await question.getByRole('textbox').fill('Tally')
  await question.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect(page).toHaveURL('/dashboard')
})

test('what was typed and not saved stays while another page is open, and a bar leads back to it', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await enter(page, vendor, `/apps/${app._id}?tab=variables`)
  const tab = (name: string) => page.getByRole('tab', { name })
  const bar = page.getByRole('region', { name: 'Unsaved changes' })
  await page.getByRole('button', { name: 'Add Variable' }).click()
  await page.getByLabel('Name', { exact: true }).fill('endpoint')
  await expect(tab('Variables (unsaved changes)')).toBeVisible()
  await tab('Settings').click()
  await page.getByText('Offline and Sign-In', { exact: true }).click()
  await page.getByLabel('Grace Hours').fill('7')
  await tab('Error Messages').click()
  await choose(page, 'Language', /^German/)
  await expect(page.getByRole('combobox', { name: 'Language' })).toHaveText(/^German/)
  await page.getByLabel('keyUsed', { exact: true }).fill('Belegt')
  await page.getByLabel('keyBanned', { exact: true }).fill('Gesperrt')
  await expect(bar).toContainText('2 unsaved changes in Error Messages of Tally')
  await expectAccessible(page, 'tabs with unsaved changes')

  await navigate(page, 'Licenses')
  const asked = page.waitForEvent('dialog')
  await Promise.all([asked.then((question) => question.dismiss()), page.close({ runBeforeUnload: true })])
  expect((await asked).type()).toBe('beforeunload')
  await bar.getByRole('link', { name: '1 unsaved change in Variables of Tally' }).click()
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('endpoint')
  await page.getByRole('button', { name: 'Save Variables' }).click()
  await expectToast(page, 'Variables saved')
  await expect(tab('Variables (unsaved changes)')).toHaveCount(0)

  await vendor.call('PUT', `/apps/${app._id}`, { settings: { leaseHours: 30 } })
  await bar.getByRole('link', { name: '1 unsaved change in App Settings of Tally' }).click()
  await page.getByText('Offline and Sign-In', { exact: true }).click()
  await expect(page.getByLabel('Grace Hours')).toHaveValue('7')
  await expect(page.getByLabel('Hours Offline')).toHaveValue('30')
  await part(page, 'App Settings').getByRole('button', { name: 'Cancel' }).click()
  await expect(bar).not.toContainText('App Settings')

  await bar.getByRole('button', { name: 'Discard' }).click()
  await expect(bar).toBeHidden()
  await page.getByRole('button', { name: 'Undo' }).click()
  await vendor.call('PUT', `/apps/${app._id}/error-messages?locale=de`, { keyBanned: 'Verboten' })
  await bar.getByRole('link').click()
  await expect(page.getByLabel('keyUsed', { exact: true })).toHaveValue('Belegt')
  await expect(page.getByLabel('keyBanned', { exact: true })).toHaveValue('Verboten')
  await expect(bar).toContainText('Someone else changed Error Messages of Tally in German in the meantime.')
  await bar.getByRole('button', { name: 'Close' }).click()
  await bar.getByRole('button', { name: 'Discard' }).click()
  await expect(page.getByLabel('keyUsed', { exact: true })).toHaveValue('')
  await expect(bar).toBeHidden()
})

test('what is typed while a save runs is a new unsaved change, and nothing stays of a deleted app', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const path = `/apps/${app._id}`
  await enter(page, vendor, `${path}?tab=settings`)
  const bar = page.getByRole('region', { name: 'Unsaved changes' })
  const whileSaving = async (save: () => Promise<void>, meanwhile: () => Promise<void>) => {
    const sent = page.waitForRequest((one) => one.method() === 'PUT')
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/api/apps/**', async (route) => {
      if (route.request().method() === 'PUT') await held
      await route.continue()
    })
    await save()
    await sent
    await meanwhile()
    answer()
    await page.unrouteAll({ behavior: 'wait' })
  }
  const save = (name: string) => page.getByRole('button', { name })

  await page.getByText('Offline and Sign-In', { exact: true }).click()
  const grace = page.getByLabel('Grace Hours')
  await grace.fill('7')
  await whileSaving(
    () => save('Save Settings').first().click(),
    () => grace.fill('8'),
  )
  await expectToast(page, 'App settings updated successfully')
  await expect(grace).toHaveValue('8')
  await expect(bar).toContainText('1 unsaved change in App Settings of Tally')
  await save('Save Settings').first().click()
  await expect(bar).toBeHidden()
  expect((await vendor.call('GET', path)).app.settings.graceHours).toBe(8)
  // By the keyboard: the pointer would lie on the messages, which then stay and cover buttons.
  const discard = () => bar.getByRole('button', { name: 'Discard' }).press('Enter')
  await grace.fill('9')
  await whileSaving(() => save('Save Settings').first().click(), discard)
  await expect(grace).toHaveValue('9')
  await expect(bar).toBeHidden()
  await grace.fill('10')
  const offline = page.getByLabel('Hours Offline')
  await whileSaving(
    () => save('Save Settings').first().click(),
    async () => {
      await discard()
      await offline.fill('31')
    },
  )
  await expect(grace).toHaveValue('10')
  await expect(offline).toHaveValue('31')
  await expect(bar).toContainText('1 unsaved change in App Settings of Tally')
  await save('Save Settings').first().click()
  await expect(bar).toBeHidden()

  await visit(page, `${path}?tab=texts`)
  const text = page.getByLabel('keyUsed', { exact: true })
  await text.fill('Taken')
  await whileSaving(
    () => save('Save Messages').click(),
    () => text.fill('Taken already'),
  )
  await expect(bar).toContainText('1 unsaved change in Error Messages of Tally')
  await expect(text).toHaveValue('Taken already')
  await save('Save Messages').click()
  await expect(bar).toBeHidden()

  await visit(page, `${path}?tab=variables`)
  await save('Add Variable').click()
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('server')
  await whileSaving(() => save('Save Variables').press('Enter'), discard)
  await expectToast(page, 'Variables saved')
  await expect(name).toHaveValue('server')
  await expect(bar).toBeHidden()
  await name.fill('host')
  await whileSaving(
    () => save('Save Variables').press('Enter'),
    () => name.fill('endpoint'),
  )
  await expectToast(page, 'Variables saved')
  await expect(name).toHaveValue('endpoint')
  await expect(name).toBeFocused()
  await expect(bar).toContainText('1 unsaved change in Variables of Tally')
  await visit(page, '/licenses')
  await bar.getByRole('link').click()
  await expect(name).toHaveValue('endpoint')
  await save('Remove').first().click()
  await visit(page, '/licenses')
  await bar.getByRole('link').click()
  await expect(page.getByText('No variables yet.')).toBeVisible()
  await save('Save Variables').click()
  await expect(bar).toBeHidden()

  await visit(page, `${path}?tab=mail`)
  await page.getByRole('switch', { name: 'Before a License Ends' }).click()
  await expectToast(page, 'Mails to customers saved')
  const days = page.getByLabel('Days Before the End')
  await expect(days).toHaveValue('14, 3')
  await vendor.call('PUT', `${path}/customer-mails`, { endsSoonDays: [5] })
  await visit(page, '/licenses')
  await page.goBack()
  await expect(days).toHaveValue('5')
  await days.fill('7, 1')
  await page.route('**/customer-mails', (route) =>
    route.fulfill({ status: 500, json: { success: false, message: 'The cellar is flooded' } }),
  )
  await save('Save Days').click()
  await expectToast(page, 'The cellar is flooded')
  await page.unroute('**/customer-mails')
  await expect(days).toHaveValue('7, 1')
  await expect(bar).toContainText('1 unsaved change in Mails to Customers of Tally')
  await visit(page, `/dashboard?dialog=delete-app&id=${app._id}`)
  await dialog(page, 'Delete Application').getByRole('textbox').fill('Tally')
  await dialog(page, 'Delete Application').getByRole('button', { name: 'Delete', exact: true }).click()
  await expectToast(page, 'App and all associated data deleted successfully')
  await expect(bar).toBeHidden()
})

test('a link to a former dialog of an app leads to its tab', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await enter(page, vendor)
  for (const [url, tab, title] of [
    ['app-settings', 'settings', 'App Settings'],
    ['app-settings&tab=messages', 'texts', 'Error Messages'],
    ['blocking', 'settings', 'Blocking in Tally'],
    ['signing-keys', 'settings', 'Signing keys of Tally'],
    ['license-types', 'types', 'License Types'],
    ['variables', 'variables', 'Variables of Tally'],
    ['releases', 'releases', 'Releases of Tally'],
    ['integrate', 'integration', 'Integrate Tally'],
  ] as const) {
    const [name, rest = ''] = url.split('&')
    for (const from of ['/dashboard', `/apps/${app._id}`]) {
      await visit(page, `${from}?dialog=${name}&id=${app._id}&${rest}`)
      await expect(page).toHaveURL(`/apps/${app._id}?tab=${tab}`)
      await expect(part(page, title)).toBeVisible()
    }
  }
  await visit(page, `/apps/${app._id}?tab=security`)
  await expect(part(page, 'App Settings')).toBeVisible()
})

test('the overview of an app shows the snippet until a program has reported, then its activity', async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const [license] = await vendor.createLicenses(app)
  await enter(page, vendor, `/apps/${app._id}`)
  await expect(part(page, 'Integrate Tally')).toBeVisible()
  const program = await Program.start(request, app)
  await program.register('erik', license!, 'machine-1')
  expect(await program.login('erik', 'machine-2')).toMatchObject({ body: { code: 'hwidMismatch' } })
  await expect
    .poll(async () => {
      await page.reload()
      const chart = part(page, 'Activity')
      await chart.or(part(page, 'Integrate Tally')).waitFor()
      return chart.locator('figcaption').allInnerTexts()
    })
    .toEqual([expect.stringMatching(/Activations\s*1[\s\S]*Refusals\s*1/)])
  await expect(part(page, 'Integrate Tally')).toHaveCount(0)
  await expect(part(page, 'Activity')).toContainText('1 end user online')
  await expectStateAccessible(page, 'the overview of an app with activity')
  await page.getByRole('tab', { name: 'Program' }).click()
  await expect(page.locator('pre').last()).toContainText(`appId: '${app.appId}'`)
})

test('pages of objects with very long names fit a screen of 320 pixels', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const long = (length: number) => 'Donaudampfschifffahrtsgesellschaft'.repeat(9).slice(0, length)
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp(long(80))
  const expiresAt = inDays(30).toISOString()
  const { license } = await vendor.call('POST', '/licenses', { app: app._id, expiresAt, note: long(200) })
  await (await Program.start(request, app)).register(long(64), license, long(200))
  const { clients } = await vendor.call('GET', '/clients')
  await page.setViewportSize({ width: 320, height: 800 })
  await enter(page, vendor)
  for (const path of [
    '/licenses',
    '/users',
    `/licenses/${license._id}`,
    `/users/${clients[0]._id}`,
    `/apps/${app._id}`,
  ]) {
    await visit(page, path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await settle(page)
    await expectToFit(page, path)
  }
})

test('the tabs and dialogs of an app with long values fit a screen of 320 pixels', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const at = `/apps/${app._id}`
  const word = 'x'.repeat(64)
  const variable = { name: word, value: word.repeat(4), public: true }
  const release = {
    version: '1.0.0',
    releasedAt: inDays(-1).toISOString(),
    link: `https://example.com/${word}`,
  }
  await vendor.call('PUT', `${at}/variables`, { variables: [variable] })
  await vendor.call('POST', `${at}/releases`, release)
  await vendor.call('POST', `${at}/blocklist`, { kind: 'hwid', value: word, reason: word })
  await vendor.call('PUT', `${at}/program-hashes`, { hashes: [{ version: '1.0.0', hash: 'a'.repeat(64) }] })
  await page.setViewportSize({ width: 320, height: 800 })
  await enter(page, vendor)
  for (const [query, shown] of [
    ...appTabs.map((tab) => [`tab=${tab}`, 'tabpanel'] as const),
    ['dialog=activate-offline', 'dialog'],
    ['dialog=deactivate-offline', 'dialog'],
  ] as const) {
    await visit(page, at)
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await visit(page, `${at}?${query}`)
    await expect(page.getByRole(shown).getByRole('heading').first()).toBeVisible()
    await settle(page)
    await expectToFit(page, query)
    const wide = await page.evaluate<string[]>(`[...document.querySelectorAll('[role=${shown}] *')]
      .filter((element) => element.scrollWidth > element.clientWidth && !element.querySelector(':scope > pre'))
      .filter((element) => getComputedStyle(element).overflowX === 'auto')
      .map((element) => element.className)`)
    expect.soft(wide, query).toEqual([])
  }
})

test('the page of an object that was just deleted says so until its list is there', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const [license] = await vendor.createLicenses(await vendor.createApp())
  const { promise: held, resolve: go } = Promise.withResolvers<void>()
  await page.route(/\/licenses-[\w-]+\.js/, async (route) => {
    await held
    await route.continue()
  })
  await enter(page, vendor, `/licenses/${license!._id}`)
  await expect(heading(page, keyPrefix(license!.key))).toBeVisible()
  await vendor.call('DELETE', `/licenses/${license!._id}`)
  await expect(heading(page, 'License not found')).toBeVisible()
  go()
  await expect(heading(page, 'Licenses')).toBeVisible()
})

test("another vendor's objects and unknown ids are not found", { tag: '@full' }, async ({
  page,
  request,
}) => {
  const neighbour = await Vendor.signUp(request)
  const theirs = await neighbour.createApp('Secret project')
  const [license] = await neighbour.createLicenses(theirs)
  const user = await neighbour.createEndUser(theirs, 'their-user')
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor)
  for (const [path, title] of [
    [`/licenses/${license!._id}`, 'License not found'],
    [`/licenses/nonsense`, 'License not found'],
    [`/users/${user._id}`, 'End user not found'],
    [`/apps/${theirs._id}`, 'App not found'],
    [`/apps/${theirs.appId}`, 'App not found'],
  ] as const) {
    await page.goto(path)
    await expect(heading(page, title)).toBeVisible()
    await expect(page.locator('body')).not.toContainText(/Secret project|their-user/)
  }
  await expectAccessible(page, 'a page that is not found')
})
