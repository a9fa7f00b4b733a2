import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { dialog, enter, expectToast, Program, part, rowAction, Vendor } from '../steps.ts'

test('variables of an app and of an end user reach its programs', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Atlas')
  const [license] = await vendor.createLicenses(app, 1, 20)
  const program = await Program.start(request, app)
  await program.register('erik', license!)

  await enter(page, vendor, '/dashboard')
  await rowAction(page, 'Atlas', 'Variables')
  const form = part(page, 'Variables of Atlas')
  await expect(form.getByText('No variables yet.')).toBeVisible()
  await form.getByRole('button', { name: 'Add Variable' }).click()
  await form.getByLabel('Name').fill('end/point')
  await form.getByLabel('Value').fill('https://api.example.com')
  await form.getByRole('button', { name: 'Save Variables' }).click()
  await expect(form.getByText(/starts with a letter/)).toBeVisible()
  await expectAccessible(page, 'variables')
  await form.getByLabel('Name').fill('endpoint')
  await form.getByRole('checkbox', { name: 'Send before anyone signs in: endpoint' }).check()
  await form.getByRole('checkbox', { name: 'Available offline: endpoint' }).check()
  await form.getByRole('button', { name: 'Save Variables' }).click()
  await expectToast(page, 'Variables saved')
  const { body } = await Program.init(request, app)
  expect(body.data.variables).toEqual({ endpoint: 'https://api.example.com' })

  await page.reload()
  await expect(form.getByLabel('Name')).toHaveValue('endpoint')
  await expect(form.getByRole('checkbox', { name: 'Available offline: endpoint' })).toBeChecked()

  await page.goto('/users')
  await rowAction(page, 'erik', 'Variables')
  const own = dialog(page, 'Variables of erik')
  await own.getByRole('button', { name: 'Add Variable' }).click()
  await own.getByLabel('Name').fill('quota')
  await own.getByLabel('Value').fill('5')
  await own.getByRole('button', { name: 'Save Variables' }).click()
  await expectToast(page, 'Variables saved')
  const session = await program.call('GET', '/session')
  expect(session.body.data.user.variables).toEqual({ quota: '5' })
})

test('releases of an app are listed, added once and removed', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Atlas')
  await enter(page, vendor, '/dashboard')
  await rowAction(page, 'Atlas', 'Releases')
  const form = part(page, 'Releases of Atlas')
  await expect(form.getByText('No releases yet')).toBeVisible()
  const add = form.getByRole('button', { name: 'Add Release' })
  await expect(form.getByLabel('Version')).toHaveValue('1.0.0')
  await form.getByLabel('Link').fill('https://example.com/atlas')
  await add.click()
  await expectToast(page, 'Version 1.0.0 added')
  await page.reload()
  // The next version is a hint, which a click on the button does not add.
  await expect(form.getByLabel('Version')).toHaveValue('')
  await expect(form.getByLabel('Version')).toHaveAttribute('placeholder', '1.0.1')
  const list = form.getByRole('list', { name: 'Releases' })
  await expect(list.getByText('1.0.0', { exact: true })).toBeVisible()
  await form.getByLabel('Version').fill('1.0.0')
  await add.click()
  await expect(form.getByRole('alert')).toHaveText('This version is already listed')
  await expectAccessible(page, 'releases')
  await list.getByRole('button', { name: 'Remove 1.0.0' }).click()
  await expect(form.getByText('No releases yet')).toBeVisible()
  expect((await vendor.call('GET', `/apps/${app._id}/releases`)).releases).toEqual([])
})

test('a misleading release link of an earlier version is readable text, and a safe one opens', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Atlas')
  const release = { version: '1.0.0', releasedAt: '2026-01-01', link: 'https://example.com/atlas' }
  await vendor.call('POST', `/apps/${app._id}/releases`, release)
  await page.route('**/releases', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const [safe] = body.data.releases
    const misleading = { ...safe, _id: 'rel_old', link: 'https://user@example.com/\u202egpj.exe' }
    await route.fulfill({ response, json: { ...body, data: { releases: [safe, misleading] } } })
  })
  await enter(page, vendor, '/dashboard')
  await rowAction(page, 'Atlas', 'Releases')
  const list = part(page, 'Releases of Atlas').getByRole('list', { name: 'Releases' })
  await expect(list.getByText('https://user@example.com/%E2%80%AEgpj.exe')).toBeVisible()
  await expect(list.getByRole('link')).toHaveText(['https://example.com/atlas'])
})

test('opens the variables as they are now, and does not overwrite those of another window', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Atlas')
  await vendor.createEndUser(app, 'erik')
  for (const [path, name, endpoint] of [
    ['/dashboard', 'Atlas', `/apps/${app._id}/variables`],
    ['/users', 'erik', `/clients/${(await vendor.call('GET', '/clients')).clients[0]._id}/variables`],
  ] as const) {
    await (path === '/dashboard' ? enter(page, vendor, path) : page.goto(path))
    const form = path === '/users' ? dialog(page, `Variables of ${name}`) : part(page, `Variables of ${name}`)
    await rowAction(page, name, 'Variables')
    await expect(form.getByRole('button', { name: 'Add Variable' })).toBeVisible()
    await (path === '/users' ? page.keyboard.press('Escape') : page.goBack())
    await expect(form).toHaveCount(0)
    const quota = { name: 'quota', value: '5', ...(path === '/dashboard' && { public: false }) }
    await vendor.call('PUT', endpoint, { variables: [quota] })
    await rowAction(page, name, 'Variables')
    await form.getByRole('button', { name: 'Add Variable' }).click()
    await form.getByLabel('Name').last().fill('endpoint')
    await form.getByLabel('Value').last().fill('https://api.example.com')
    await form.getByRole('button', { name: 'Save Variables' }).click()
    await expectToast(page, 'Variables saved')
    const { variables } = await vendor.call('GET', endpoint)
    expect(variables.map((one: { name: string }) => one.name).sort()).toEqual(['endpoint', 'quota'])
  }
})
