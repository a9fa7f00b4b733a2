import { readFileSync } from 'node:fs'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  fact,
  heading,
  keyPrefix,
  navigate,
  openPalette,
  Program,
  row,
  rows,
  Vendor,
  visit,
} from '../steps.ts'
import { addMember } from '../team.ts'

test('a customer is added, gets a license, is exported and erased', { tag: '@phone' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1)
  await enter(page, vendor, '/customers')
  await expect(page.getByText('No customers yet')).toBeVisible()
  await expectStateAccessible(page, 'no customers')

  await page.getByRole('button', { name: 'Add Customer' }).first().click()
  const form = dialog(page, 'Add Customer')
  await form.getByLabel('Email').fill('ada')
  await form.getByLabel('Name').fill('Ada Lovelace')
  await expect(form.getByText('Please enter a valid email address')).toBeVisible()
  await form.getByLabel('Email').fill('Ada@engines.example')
  await form.getByLabel('Note').fill('Likes engines')
  await expectAccessible(page, 'a new customer')
  await form.getByRole('button', { name: 'Add Customer' }).click()
  await expectToast(page, 'Customer Added', 'You can now link licenses to Ada@engines.example.')
  await expect(heading(page, 'Ada@engines.example')).toBeVisible()
  await expect(fact(page, 'Note')).toHaveText('Likes engines')
  await expect(page.getByText('No licenses', { exact: true })).toBeVisible()
  await expect(page.getByRole('listitem').filter({ hasText: 'Customer added' })).toBeVisible()

  await visit(page, `/licenses/${license!._id}`)
  await page.getByRole('button', { name: 'Link a customer' }).click()
  await dialog(page, 'Customer').getByLabel('Email of the customer').fill('ada@engines.example')
  await expectAccessible(page, 'the customer of a license')
  await dialog(page, 'Customer').getByRole('button', { name: 'Save' }).click()
  await expectToast(page, 'Customer Linked')
  await expect(fact(page, 'Customer')).toContainText('Ada@engines.example')
  const program = await Program.start(request, app)
  await program.register('ada', license!, 'engine')
  await fact(page, 'Customer').getByRole('link').click()
  await expect(heading(page, 'Ada@engines.example')).toBeVisible()
  await expect(row(page, keyPrefix(license!.key))).toBeVisible()
  await expect(page.getByRole('link', { name: 'ada', exact: true }).last()).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Devices' })).toBeVisible()
  await expectStateAccessible(page, 'a customer')

  await expect(page.getByText('No mails', { exact: true })).toBeVisible()
  const [second] = await vendor.createLicenses(app, 1)
  await vendor.call('PUT', `/licenses/${second!._id}`, { customer: 'ada@engines.example' })
  const other = await Program.start(request, app)
  await other.register('augusta', second!, 'loom')
  await program.login('ada', 'another engine')
  const id = page.url().split('/').at(-1)
  await expect.poll(async () => (await vendor.call('GET', `/customers/${id}`)).refusal).not.toBeNull()
  await page.reload()
  const devices = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: /^Free/ }) })
  await expect(devices).toHaveCount(2)
  await expect(page.getByRole('region', { name: 'The last refusal' })).toContainText(
    'The device was not accepted',
  )
  await expect(devices.filter({ hasText: 'ada' })).toHaveCount(1)
  await devices.filter({ hasText: 'augusta' }).getByRole('button').click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Free Device' }).click()
  await expectToast(page, 'Device Freed')
  await expect(devices).toHaveCount(1)
  await expectStateAccessible(page, 'a customer with two end users')
  const { clients } = await vendor.call('GET', '/clients?search=augusta')
  await vendor.call('DELETE', `/clients/${clients[0]._id}`)

  await page.getByRole('button', { name: 'Edit Customer' }).click()
  await dialog(page, 'Edit Customer').getByLabel('Name').fill('Ada King')
  await dialog(page, 'Edit Customer').getByRole('button', { name: 'Save Customer' }).click()
  await expectToast(page, 'Customer Updated')
  await expect(fact(page, 'Name')).toHaveText('Ada King')

  const act = async (name: string) => {
    await page.getByRole('button', { name: 'Actions for Ada@engines.example' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  const saving = page.waitForEvent('download')
  await act('Export as JSON')
  const file = await saving
  expect(file.suggestedFilename()).toMatch(/^customer-.+\.json$/)
  const known = JSON.parse(readFileSync(await file.path(), 'utf8'))
  expect(known.customer).toMatchObject({ email: 'Ada@engines.example', name: 'Ada King' })
  expect(known.clients).toMatchObject([{ username: 'ada', devices: [{}] }])

  await act('Erase Customer')
  const question = dialog(page, 'Erase Customer')
  await expect(question).toContainText('What is erased')
  await expect(question).toContainText('Its licenses, which become unused')
  await expectAccessible(page, 'the erasure')
  await expect(question.getByRole('button', { name: 'Erase Customer' })).toBeDisabled()
  await question.getByRole('textbox').fill('Ada@engines.example')
  await question.getByRole('button', { name: 'Erase Customer' }).click()
  await expectToast(page, 'Customer Erased')
  await expect(page).toHaveURL('/customers')
  await expect(page.getByText('No customers yet')).toBeVisible()
  expect(await vendor.call('GET', '/clients')).toMatchObject({ clients: [] })
  expect(await vendor.call('GET', `/licenses/${license!._id}`)).toMatchObject({
    license: { status: 'unused', customer: null },
  })
})

test('who has left the page of a customer stays elsewhere when the customer is erased', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  const { customer } = await vendor.call('POST', '/customers', { email: 'ada@engines.example' })
  let load = () => {}
  const held = new Promise<void>((resolve) => {
    load = resolve
  })
  await page.route('**/assets/activity-*.js', (route) => held.then(() => route.continue()))
  await enter(page, vendor, `/customers/${customer._id}`)
  await expect(heading(page, 'ada@engines.example')).toBeVisible()
  await navigate(page, 'Activity')
  await expect(page).toHaveURL('/activity')
  const missed = page.waitForResponse((response) => response.status() === 404)
  await vendor.call('DELETE', `/customers/${customer._id}`)
  await missed
  load()
  await expect(heading(page, 'Activity')).toBeVisible()
  await expect(page).toHaveURL('/activity')
})

test('customers are found by address, name and app, in pages and by the palette', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const [first, second] = [await vendor.createApp(), await vendor.createApp('Other')]
  const expiresAt = new Date(Date.now() + 864e5).toISOString()
  for (let n = 10; n < 37; n += 1)
    await vendor.call('POST', '/customers', { email: `buyer${n}@example.com`, name: `Buyer ${n}` })
  await enter(page, vendor, '/customers')
  await expect(rows(page)).toHaveCount(25)
  await page.getByRole('button', { name: 'Next', exact: true }).click()
  await expect(rows(page)).toHaveCount(2)

  await visit(page, '/licenses?dialog=generate')
  const form = dialog(page, 'Generate License')
  await choose(form, 'Application', 'Other')
  await form.getByLabel('Customer').fill('BUYER20@example.com')
  await form.getByRole('button', { name: 'Generate License' }).click()
  await expect(dialog(page, 'Licenses Generated')).toBeVisible()
  await page.keyboard.press('Escape')
  const body = { app: first._id, expiresAt, customer: 'new.buyer@example.com' }
  await vendor.call('POST', '/licenses', body)

  await visit(page, `/customers?app=${second._id}`)
  await expect(rows(page)).toHaveText([/buyer20@example\.com/])
  await visit(page, '/customers')
  await page.getByLabel('Search customers').fill('new.buy')
  await expect(rows(page)).toHaveText([/new\.buyer@example\.com/])
  await page.getByLabel('Search customers').fill('Buyer 31')
  await expect(rows(page)).toHaveText([/buyer31@example\.com/])
  await page.getByLabel('Search customers').fill('nobody')
  await expect(page.getByText('No customers found')).toBeVisible()

  await visit(page, '/settings')
  await openPalette(page)
  await page.keyboard.type('new.buyer@')
  await page.getByRole('option', { name: 'new.buyer@example.com', exact: true }).click()
  await expect(heading(page, 'new.buyer@example.com')).toBeVisible()
})

test('an account is repaired: name, address, end, password, customer and a further license', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [used, spare] = await vendor.createLicenses(app, 2)
  const program = await Program.start(request, app)
  await program.register('grase', used!, 'ship')
  const { clients } = await vendor.call('GET', '/clients')
  const { _id } = clients[0]
  await enter(page, vendor, `/users/${_id}`)
  const act = async (name: string) => {
    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name, exact: true }).click()
  }

  await act('Edit End User')
  await dialog(page, 'Edit End User').getByLabel('Username').fill('grace')
  await dialog(page, 'Edit End User').getByLabel('Email').fill('grace@navy.example')
  await expectAccessible(page, 'the name of an end user')
  await dialog(page, 'Edit End User').getByRole('button', { name: 'Save User' }).click()
  await expectToast(page, 'User Updated')
  await expect(heading(page, 'grace')).toBeVisible()
  await expect(fact(page, 'Email')).toHaveText('grace@navy.example')

  await act('Set Password')
  await dialog(page, 'Set Password').getByLabel('New Password', { exact: true }).fill('cobol-and-ships')
  await expectAccessible(page, 'a new password')
  await dialog(page, 'Set Password').getByRole('button', { name: 'Set Password' }).click()
  await expectToast(page, 'Password Set')
  const again = await Program.start(request, app)
  const login = (password: string) =>
    again.call('POST', '/login', { username: 'grace', password, hwid: 'ship' })
  expect((await login('end-user-password')).status).toBe(401)
  expect((await login('cobol-and-ships')).status).toBe(200)

  await act('Mail Password Link')
  const mailing = dialog(page, 'Mail Password Link')
  await expect(mailing).toContainText('The link goes to grace@navy.example')
  await mailing.getByRole('button', { name: 'Mail Link' }).click()
  await expect(mailing.getByRole('alert')).toContainText(
    'Turn on “Customer Page” in the tab Customers of the app',
  )
  await expectAccessible(page, 'a link without a page')
  await mailing.getByRole('button', { name: 'Cancel' }).click()

  await act('Add License')
  await choose(dialog(page, 'Add License'), 'License', new RegExp(spare!.key.slice(0, 16)))
  await expectAccessible(page, 'a further license')
  await dialog(page, 'Add License').getByRole('button', { name: 'Add License' }).click()
  await expectToast(page, 'License Added')
  expect(await vendor.call('GET', `/licenses/${spare!._id}`)).toMatchObject({ license: { used: true } })

  await act('Edit Expiry')
  const expiry = dialog(page, 'Edit Expiry')
  await choose(expiry, 'Change', 'Set a date')
  await expiry.getByLabel('Expiration Date').fill(new Date(Date.now() + 2 * 864e5).toISOString().slice(0, 10))
  await expect(expiry).toContainText('This shortens the subscription.')
  await expiry.getByRole('switch', { name: 'Shorten the subscription' }).click()
  await expiry.getByRole('button', { name: 'Update Expiry' }).click()
  await expectToast(page, 'Expiry Updated')
  const { client } = await vendor.call('GET', `/clients/${_id}`)
  expect(Date.parse(client.expiresAt)).toBeLessThan(Date.now() + 4 * 864e5)

  await page.getByRole('button', { name: 'Link a customer' }).click()
  await dialog(page, 'Customer').getByLabel('Email of the customer').fill('grace@navy.example')
  await dialog(page, 'Customer').getByRole('button', { name: 'Save' }).click()
  await expectToast(page, 'Customer Linked')
  await page.getByRole('button', { name: 'Change the customer' }).click()
  await dialog(page, 'Customer').getByLabel('Email of the customer').fill('')
  await dialog(page, 'Customer').getByRole('button', { name: 'Save' }).click()
  await expectToast(page, 'Customer Removed')
  await expect(page.getByRole('button', { name: 'Link a customer' })).toBeVisible()
})

test('customers and repairs show their texts for errors without a message', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const user = await vendor.createEndUser(app, 'grace')
  const { customer } = await vendor.call('POST', '/customers', { email: 'grace@navy.example' })
  await enter(page, vendor, `/customers/${customer._id}?dialog=edit`)
  await expect(dialog(page, 'Edit Customer')).toBeVisible()
  await page.route('**/api/**', (route) =>
    route.request().method() === 'GET' && !route.request().url().includes('/export')
      ? route.fallback()
      : route.fulfill({ status: 200, json: { success: false } }),
  )
  const submit = async (path: string, button: string, fill?: readonly [string, string]) => {
    await visit(page, path)
    const form = page.getByRole('dialog').or(page.getByRole('alertdialog'))
    if (fill) await form.getByLabel(fill[0]).first().fill(fill[1])
    await form.getByRole('button', { name: button }).click()
  }
  await submit(`/customers/${customer._id}?dialog=edit`, 'Save Customer')
  await expectToast(page, 'Update Failed', 'Failed to update the customer.')
  await submit(`/customers/${customer._id}?dialog=erase`, 'Erase Customer', [/Type/.source, customer.email])
  await expectToast(page, 'Erasing Failed', 'Failed to erase the customer. Erase it again to continue.')
  await submit('/customers?dialog=create', 'Add Customer', ['Email', 'new@navy.example'])
  await expectToast(page, 'Adding Failed', 'Failed to add the customer.')
  await submit(`/users/${user._id}?dialog=edit-user`, 'Save User', ['Username', 'grace2'])
  await expectToast(page, 'Update Failed', 'Failed to update the user.')
  await submit(`/users/${user._id}?dialog=set-password`, 'Set Password', ['New Password', 'long enough'])
  await expectToast(page, 'Update Failed', 'Failed to set the password.')
  await visit(page, `/users/${user._id}?dialog=mail-password`)
  const mailing = dialog(page, 'Mail Password Link')
  await mailing.getByRole('button', { name: 'Mail Link' }).click()
  await expect(mailing.getByRole('alert')).toHaveText('Failed to mail the link.')
  await submit(`/users/${user._id}?dialog=link-customer`, 'Save', ['Email of the customer', 'a@b.example'])
  await expectToast(page, 'Update Failed', 'Failed to change the customer.')
})

test('a viewer reads and exports customers and changes none; a member with some apps neither exports nor erases', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const expiresAt = new Date(Date.now() + 864e5).toISOString()
  const { license } = await vendor.call('POST', '/licenses', {
    ...{ app: app._id, expiresAt, customer: 'ada@engines.example' },
  })
  const viewer = await addMember(request, vendor, { role: 'viewer' })
  await enter(page, viewer, '/customers')
  await expect(row(page, 'ada@engines.example')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Add Customer' })).toHaveCount(0)
  await visit(page, `/customers/${license.customer}?dialog=erase`)
  await expect(heading(page, 'ada@engines.example')).toBeVisible()
  await expect(row(page, keyPrefix(license.key))).toBeVisible()
  await expect(page.getByRole('button', { name: 'Edit Customer' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Actions for ada@engines.example' }).click()
  await expect(page.getByRole('menuitem')).toHaveText(['Export as JSON'])
  await page.keyboard.press('Escape')
  await expect(page.getByRole('alertdialog')).toHaveCount(0)
  await visit(page, `/licenses/${license._id}`)
  await expect(fact(page, 'Customer')).toHaveText('ada@engines.example')

  const manager = await addMember(request, vendor, { role: 'manager', apps: [app._id] })
  await page.evaluate(`localStorage.setItem('keyward-owner-token', '${manager.token}')`)
  await page.goto(`/customers/${license.customer}`)
  await page.getByRole('button', { name: 'Actions for ada@engines.example' }).click()
  await expect(page.getByRole('menuitem')).toHaveText(['Edit Customer'])
  await page.getByRole('menuitem').click()
  await expect(dialog(page, 'Edit Customer').getByLabel('Name')).toBeVisible()
  await expect(dialog(page, 'Edit Customer').getByLabel('Email')).toHaveCount(0)
})
