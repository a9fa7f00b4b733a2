import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  heading,
  openPalette,
  Program,
  row,
  rowAction,
  Vendor,
} from '../steps.ts'

test('a reference from a customer explains the refusal, and one click lets the customer in', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1, 20)
  const program = await Program.start(request, app)
  await program.register('erik', license!, 'pc-1')
  const { clients } = await vendor.call('GET', '/clients')
  await vendor.call('PATCH', `/clients/${clients[0]._id}/toggle-ban`, { is_banned: true, reason: 'fraud' })

  await enter(page, vendor, '/dashboard')
  await page.getByRole('link', { name: 'All Events' }).click()
  await expect(heading(page, 'Activity')).toBeVisible()
  await expect(row(page, 'Registered')).toBeVisible()
  await expect(page.getByText('events, times in UTC')).toBeVisible()
  for (const end of ['From', 'To']) await expect(page.getByText(end, { exact: true })).toBeVisible()
  // Without a reload: the page follows the live stream.
  const { reference } = (await program.call('GET', '/session')).body
  await expect(row(page, reference)).toContainText('User banned')
  await expect(row(page, reference)).toContainText('erik')
  await choose(page, 'Events', 'Refused: Expired')
  await expect(page.getByText('No events found')).toBeVisible()
  await page.getByRole('button', { name: 'Clear Filters' }).click()
  await choose(page, 'Events', 'Registered')
  await expect(row(page, 'Registered')).toBeVisible()
  await expect(row(page, reference)).toBeHidden()
  await choose(page, 'Events', 'All events')
  await page.getByRole('searchbox', { name: 'Search events' }).fill(reference.slice(0, 6))
  await expect(row(page, reference)).toBeVisible()
  await expect(row(page, 'Registered')).toBeHidden()
  await page.getByRole('searchbox', { name: 'Search events' }).fill('')
  await expectAccessible(page, 'activity')

  await page.goto('/settings')
  await openPalette(page)
  await page.keyboard.type(reference.toLowerCase())
  await expect(page.getByRole('option', { name: `Why was ${reference} refused?` })).toHaveAttribute(
    'aria-selected',
    'true',
  )
  await page.keyboard.press('Enter')
  const explanation = dialog(page, 'The end user was banned')
  await expect(explanation.getByText('You had banned this end user. Your reason: fraud.')).toBeVisible()
  const now = explanation.getByRole('region', { name: 'Then and now' })
  await expect(now).toContainText('User banned')
  await expect(now.getByText('License not banned')).toBeHidden()
  await now.getByText(/checks passed/).click()
  await expect(now.getByText('License not banned')).toBeVisible()
  await expectAccessible(page, 'an explained refusal')
  await explanation.getByRole('button', { name: 'Unban the user' }).click()
  await expectToast(page, 'Changed. The program can try again.')
  await expect(explanation.getByRole('region', { name: 'Then' })).toContainText('User banned')
  await expect(explanation.getByRole('region', { name: 'Now' })).toContainText('May run')
  expect(await program.call('GET', '/session')).toMatchObject({ body: { success: true } })

  await page.goto('/users')
  await rowAction(page, 'erik', 'Activity')
  await expect(page).toHaveURL(`/activity?client=${clients[0]._id}`)
  await expect(page.getByText('Events of erik')).toBeVisible()
  await page.goto('/activity?dialog=explain&id=0000000000')
  await expect(dialog(page, 'What happened')).toContainText('There is no such reference')
})

test('says that a filter names a deleted end user, and offers all events', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 1, 20)
  const program = await Program.start(request, app)
  await program.register('erik', license!, 'pc-1')
  const { clients } = await vendor.call('GET', '/clients')
  await vendor.call('DELETE', `/clients/${clients[0]._id}`)

  await enter(page, vendor, `/activity?client=${clients[0]._id}`)
  await expect(page.getByText('This end user does not exist')).toBeVisible()
  await expect(page.getByText('It was deleted.')).toBeVisible()
  await expectAccessible(page, 'activity of a deleted end user')
  await page.getByRole('button', { name: 'Show Events of All Users' }).click()
  await expect(row(page, 'Registered')).toBeVisible()
})

test('lists ignore values in the URL that are not valid', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app)
  await (await Program.start(request, app)).register('erik', license!)
  await enter(page, vendor, '/dashboard')
  const long = 'x'.repeat(300)
  const failed = page.getByRole('button', { name: 'Try Again' })
  await page.goto(
    `/activity?from=rubbish&to=2024-02-31&code=nothing&app=${long}&client=${long}&page=99999999999`,
  )
  await expect(row(page, 'Registered')).toBeVisible()
  await expect(failed).toHaveCount(0)
  for (const path of ['/licenses', '/users']) {
    await page.goto(`${path}?status=rubbish&sort=rubbish&app=${long}&page=99999999999`)
    await expect(row(page, 'erik')).toBeVisible()
    await page.goto(`${path}?search=${long}`)
    await expect(page.getByRole('button', { name: 'Clear Filters' })).toBeVisible()
    await expect(failed).toHaveCount(0)
  }
  await page.goto(`/dashboard?page=99999999999&search=${long}`)
  await expect(page.getByRole('button', { name: 'Clear Search' }).last()).toBeVisible()
  await expect(failed).toHaveCount(0)
})
