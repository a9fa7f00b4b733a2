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
