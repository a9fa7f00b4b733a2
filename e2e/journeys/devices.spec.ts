import { expect, test } from '../keyward.ts'
import { dialog, enter, expectToast, Program, part, rowAction, Vendor } from '../steps.ts'

test('a license for two devices gives up a place when the vendor frees one or all', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const type = { name: 'Duo', term: 'forever', devices: 2 }
  const { licenseType } = await vendor.call('POST', `/apps/${app._id}/license-types`, type)
  const { license } = await vendor.call('POST', '/licenses', { app: app._id, type: licenseType._id })
  const signIn = async (hwid: string, name: string) => {
    const program = await Program.start(request, app)
    const device = { name, system: 'Windows 11 Pro' }
    return program.call('POST', '/license', { licenseKey: license.key, hwid, device })
  }
  const refused = { status: 403, body: { code: 'hwidMismatch', details: { devices: { used: 2, limit: 2 } } } }
  const { body } = await signIn('pc-1', 'Laptop')
  await signIn('pc-2', 'Workstation')
  expect(await signIn('pc-3', 'Tablet')).toMatchObject(refused)

  await enter(page, vendor, `/users/${body.data.user._id}`)
  const main = page.getByRole('main')
  for (const text of ['2 of 2 in use', 'Laptop', 'Workstation', 'Windows 11 Pro']) {
    await expect(main).toContainText(text)
  }
  await page.getByRole('button', { name: 'Free Laptop' }).click()
  await dialog(page, 'Free Laptop?').getByRole('button', { name: 'Free Device' }).click()
  await expectToast(page, 'Device Freed')
  await expect(main).toContainText('1 of 2 in use')
  expect(await signIn('pc-3', 'Tablet')).toMatchObject({ status: 200 })
  expect(await signIn('pc-1', 'Laptop')).toMatchObject(refused)

  await page.getByRole('button', { name: 'Free All' }).click()
  const question = dialog(page, 'Free all devices of Tablet')
  await question.getByRole('button', { name: 'Free All' }).click()
  await expectToast(page, 'Devices Freed')
  await expect(main).toContainText('No devices')
  expect(await signIn('pc-1', 'Laptop')).toMatchObject({ status: 200 })
})

test('the vendor sees until when a machine with a lease can run offline, and frees it at once', async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await vendor.call('PUT', `/apps/${app._id}`, { settings: { deviceSelfService: true } })
  const [license] = await vendor.createLicenses(app)
  const signIn = async (hwid: string) => {
    const program = await Program.start(request, app)
    const device = { name: hwid, system: 'Windows 11 Pro' }
    return {
      program,
      answer: await program.call('POST', '/license', { licenseKey: license!.key, hwid, device }),
    }
  }
  const { program, answer } = await signIn('Laptop')
  expect(await program.call('POST', '/lease', { hwid: 'Laptop' })).toMatchObject({ status: 200 })
  const { body } = await program.call('GET', '/devices')
  expect(await program.call('DELETE', `/devices/${body.data.devices[0]._id}`)).toMatchObject({ status: 200 })
  expect((await signIn('Tablet')).answer).toMatchObject({ status: 403, body: { code: 'hwidMismatch' } })

  await enter(page, vendor, `/users/${answer.body.data.user._id}`)
  const main = page.getByRole('main')
  await expect(main).toContainText('1 of 1 in use')
  await expect(main).toContainText('runs offline until')
  await expect(main).toContainText('freed by a program, its place is free from')
  await page.getByRole('button', { name: 'Free Laptop' }).click()
  const question = dialog(page, 'Free Laptop?')
  await expect(question).toContainText('can run offline until')
  await question.getByRole('button', { name: 'Free Device' }).click()
  const toast = page.locator('[data-sonner-toast]')
  await expect(toast.filter({ hasText: 'The old one can run offline until' })).toHaveCount(1)
  await expectToast(page, 'Device Freed')
  expect((await signIn('Tablet')).answer).toMatchObject({ status: 200 })

  await page.getByRole('button', { name: 'Free All' }).click()
  const reset = dialog(page, 'Free all devices of Tablet')
  await expect(reset).toContainText('can go on running without a connection until')
  await reset.getByRole('button', { name: 'Free All' }).click()
  await expect(toast.filter({ hasText: 'can go on running without a connection until' })).toHaveCount(1)
  await expectToast(page, 'Devices Freed')
})

test('an app can require a hardware id and let users free devices', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const [license] = await vendor.createLicenses(app)
  const program = await Program.start(request, app)
  const signIn = (hwid?: string) => program.call('POST', '/license', { licenseKey: license!.key, hwid })
  await enter(page, vendor)
  await rowAction(page, 'Tally', 'App Settings')
  const settings = part(page, 'App Settings')
  await settings.getByText('Devices', { exact: true }).click()
  await settings.getByRole('switch', { name: 'Require a Hardware ID' }).click()
  await expectToast(page, 'App settings updated successfully')
  await settings.getByRole('switch', { name: 'Let Users Free Devices' }).click()
  await expectToast(page, 'App settings updated successfully')
  await settings.getByLabel('Hours Between Freed Devices').fill('24')
  await settings.getByRole('button', { name: 'Save Settings' }).click()
  await expectToast(page, 'App settings updated successfully')
  expect(await signIn()).toMatchObject({ body: { code: 'hwidMismatch' } })
  expect(await signIn('pc-1')).toMatchObject({ status: 200 })
  expect(await program.call('GET', '/devices')).toMatchObject({
    body: { data: { devices: [{ name: null }] } },
  })
})
