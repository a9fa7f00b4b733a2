import { textsTo } from '../../apps/server/test/mailed.ts'
import { expectStateAccessible } from '../accessibility.ts'
import { expect, test as plain } from '../keyward.ts'
import { test } from '../mailing.ts'
import { enter, expectToast, heading, Vendor, visit } from '../steps.ts'

test('a person confirms the address and chooses mails, which are kept', { tag: '@phone' }, async ({
  page,
  request,
  mails,
}) => {
  const vendor = await Vendor.signUp(request)
  await enter(page, vendor, '/settings')
  await page.getByRole('link', { name: 'Choose Mails' }).click()
  await expect(heading(page, 'Notifications')).toBeVisible()
  await expect(page).toHaveURL('/settings/notifications')
  const weekly = page.getByRole('switch', { name: 'Weekly summary' })
  await expect(weekly).not.toBeChecked()
  await expect(page.getByRole('switch', { name: 'New sign-ins' })).toBeChecked()
  await expect(page.getByRole('switch', { name: 'Waiting orders' })).not.toBeChecked()
  await expectStateAccessible(page, 'notifications')

  await weekly.click()
  await expectToast(page, 'Notifications updated successfully')
  await page.reload()
  await expect(weekly).toBeChecked()

  await page.getByRole('button', { name: 'Mail Me a Link' }).click()
  await expectToast(page, 'Link sent')
  const linksIn = () =>
    textsTo(mails, vendor.email).flatMap((text) => /https?:\S+\/settings\/notifications#\S+/.exec(text) ?? [])
  await expect.poll(linksIn).toHaveLength(1)
  const [link = ''] = linksIn()
  await page.goto(link)
  await expectToast(page, 'Your address is confirmed')
  await expect(page).toHaveURL('/settings/notifications')
  await expect(page.getByText('Confirm your address')).toBeHidden()
})

test('a choice that the server rejects is taken back, and a list that fails to load can be retried', {
  tag: '@full',
}, async ({ page, request }) => {
  await enter(page, await Vendor.signUp(request), '/settings/notifications')
  const weekly = page.getByRole('switch', { name: 'Weekly summary' })
  await expect(weekly).toBeVisible()
  const calls = '**/api/settings/notifications'
  await page.route(calls, (route) =>
    route.fulfill({ status: 500, json: { success: false, message: 'The cellar is flooded' } }),
  )
  await weekly.click()
  await expectToast(page, 'The cellar is flooded')
  await expect(weekly).not.toBeChecked()
  await page.reload()
  await expect(page.getByText('Failed to load notifications').first()).toBeVisible()
  await page.unroute(calls)
  await page.getByRole('button', { name: 'Try Again' }).first().click()
  await expect(weekly).toBeVisible()
})

plain('a server without a mail server says so', { tag: '@full' }, async ({ page, request }) => {
  await enter(page, await Vendor.signUp(request))
  await visit(page, '/settings/notifications')
  await expect(page.getByText('This server sends no mail')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Mail Me a Link' })).toHaveCount(0)
})
