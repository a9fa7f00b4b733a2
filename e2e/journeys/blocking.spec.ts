import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { choose, dialog, enter, expectToast, Program, part, row, rowAction, Vendor } from '../steps.ts'

test('a vendor blocks a device and an address, bans with both, and pauses an end user', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1, 20)
  const program = await Program.start(request, app)
  await program.register('erik', license!, 'pc-1')
  const session = () => program.call('GET', '/session')

  await enter(page, vendor)
  await rowAction(page, app.name, 'Blocking')
  const blocking = part(page, `Blocking in ${app.name}`)
  await expect(blocking.getByText('Nothing is blocked.')).toBeVisible()
  await blocking.getByLabel('Hardware ID').fill('pc-1')
  await blocking.getByLabel('Reason').fill('stolen')
  await blocking.getByRole('button', { name: 'Block', exact: true }).click()
  await expectToast(page, 'Blocked')
  expect(await session()).toMatchObject({ body: { code: 'hwidBlacklisted' } })
  await choose(blocking, 'Block a', 'Address')
  await blocking.getByLabel('Address or network').fill('0.0.0.0/0')
  await blocking.getByRole('button', { name: 'Block', exact: true }).click()
  await expectToast(page, 'Must be an IP address, or a network of at most /8 (IPv4) or /16 (IPv6)')
  await blocking.getByLabel('Hash').fill('a'.repeat(64))
  await blocking.getByRole('button', { name: 'Allow' }).click()
  await expectToast(page, 'Allowed builds updated')
  await expectAccessible(page, 'blocked devices and allowed builds')
  await blocking.getByRole('button', { name: 'Unblock pc-1' }).click()
  await expectToast(page, 'Unblocked')
  expect(await session()).toMatchObject({ body: { success: true } })

  await page.goto('/users')
  await rowAction(page, 'erik', 'Pause Subscription')
  await expectToast(page, 'Subscription Paused')
  await expect(row(page, 'erik')).toContainText('Paused')
  expect(await session()).toMatchObject({ body: { code: 'pausedSub' } })
  await rowAction(page, 'erik', 'Resume Subscription')
  await expectToast(page, 'Subscription Resumed')

  await rowAction(page, 'erik', 'Ban')
  const ban = dialog(page, 'Ban erik?')
  await ban.getByLabel('Reason').fill('charged back')
  await ban.getByRole('switch', { name: 'Block Devices and Address' }).click()
  await expectAccessible(page, 'ban with a reason')
  await ban.getByRole('button', { name: 'Ban User' }).click()
  await expectToast(page, 'User Banned')
  expect(await session()).toMatchObject({ body: { code: 'userBanned' } })
  const { blocks } = await vendor.call('GET', `/apps/${app._id}/blocklist`)
  expect(blocks.map(({ kind, reason }: Record<string, string>) => [kind, reason])).toEqual([
    ['address', 'charged back'],
    ['hwid', 'charged back'],
  ])
})

test('the settings of an app say that VPNs cannot be recognized, and set the other checks', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await enter(page, vendor, `/dashboard?dialog=app-settings&id=${app._id}`)
  const settings = part(page, 'App Settings')
  await settings.getByText('Security', { exact: true }).click()
  await expect(settings.getByText(/cannot recognize VPNs/)).toBeVisible()
  await expect(settings.getByRole('switch', { name: 'Block VPNs' })).toBeDisabled()
  await settings.getByRole('switch', { name: 'Reject Leaked Passwords' }).click()
  await expectToast(page, 'App settings updated successfully')
  await settings.getByLabel('Shortest Username').fill('6')
  await settings.getByLabel('Days of Activity').fill('20')
  await expect(settings.getByText('Enter 365 to 730')).toBeVisible()
  await settings.getByLabel('Days of Activity').fill('500')
  await expectAccessible(page, 'settings of checks')
  // A change in another window stays.
  await vendor.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  await settings.getByRole('button', { name: 'Save Settings' }).click()
  await expectToast(page, 'App settings updated successfully')
  const saved = (await vendor.call('GET', `/apps/${app._id}`)).app.settings
  expect(saved).toMatchObject({
    checkPasswords: true,
    usernameMin: 6,
    activityDays: 500,
    allowCustomLicenseKey: true,
  })
})

test('the last entry of a page of blocked devices leads back to the page before', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  for (let at = 1; at <= 21; at++) {
    await vendor.call('POST', `/apps/${app._id}/blocklist`, { kind: 'hwid', value: `pc-${at}` })
  }
  await enter(page, vendor)
  await rowAction(page, app.name, 'Blocking')
  const blocking = part(page, `Blocking in ${app.name}`)
  await blocking.getByRole('button', { name: 'Next' }).click()
  await blocking.getByRole('button', { name: 'Unblock pc-1', exact: true }).click()
  await expectToast(page, 'Unblocked')
  await expect(blocking.getByRole('list', { name: 'Blocked' }).getByRole('listitem')).toHaveCount(20)
  await expect(blocking.getByText('Nothing is blocked.')).toHaveCount(0)
})
