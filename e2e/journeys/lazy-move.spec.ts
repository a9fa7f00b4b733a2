import { startOldProvider } from '../../apps/server/test/old-provider.ts'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { choose, dialog, enter, expectToast, Program, part, settle, shownDate, Vendor } from '../steps.ts'
import { addMember } from '../team.ts'

const section = 'Move at the next sign-in'
const in30Days = () => new Date(Date.now() + 30 * 86_400_000)
const toDay = (date: Date) =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-')

test('a vendor lets customers move at their next sign-in, sees who has, and ends it', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const old = await startOldProvider('1.2', Date.now)
  old.add('frodo', { password: 'ring-bearer-1', key: 'KA-FRODO-1' })
  await enter(page, vendor, `/apps/${app._id}?tab=integration`)
  const card = part(page, section)
  await expect(card.getByText('Off', { exact: true })).toBeVisible()
  const fact = (label: string) => card.locator('dl > div', { has: page.getByText(label, { exact: true }) })

  await test.step('until a day, with what old programs contain', async () => {
    await card.getByRole('button', { name: 'Set Up Move' }).click()
    const form = dialog(page, section)
    await form.getByLabel('Owner ID').fill('short')
    await form.getByLabel('Last day').fill('2020-01-01')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect(form.getByText('An owner id has 10 letters and digits')).toBeVisible()
    await expect(form.getByText('Choose a day that is not over')).toBeVisible()
    await form.getByLabel('Owner ID').fill(old.settings.ownerId)
    await form.getByLabel('Name', { exact: true }).fill(old.settings.name)
    await choose(form, 'Protocol', '1.3')
    await expect(form.getByLabel('Address')).toHaveValue('https://keyauth.win/api/1.3/')
    await expect(form.getByLabel('Secret')).toBeHidden()
    await choose(form, 'Protocol', '1.2')
    await form.getByLabel('Last day').fill(toDay(in30Days()))
    await form.getByLabel('Address').fill('https://10.0.0.1/api/1.2/')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect(form.getByText('The host has no public address.')).toBeVisible()
    await form.getByLabel('Address').fill(old.url)
    await expectAccessible(page, 'the dialog of the move')
    await form.getByRole('button', { name: 'Save' }).click()
    await expectToast(page, 'Move saved')
    await expect(card.getByText('On', { exact: true })).toBeVisible()
    await expect(card.getByText('Answers of the old provider are not verified')).toBeVisible()
    await expect(fact('Ends')).toContainText(shownDate(in30Days()))
  })

  await test.step('answers are verified once the secret is known', async () => {
    await card.getByRole('button', { name: 'Edit Move' }).click()
    const form = dialog(page, section)
    await form.getByRole('textbox', { name: 'Secret' }).fill(old.settings.secret ?? '')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect(card.getByText('Answers of the old provider are not verified')).toBeHidden()
  })

  await test.step('one moves, and one is refused', async () => {
    const program = await Program.start(request, app)
    const login = (username: string, password: string) =>
      program.call('POST', '/login', { username, password, hwid: 'pc-1' })
    expect((await login('gollum', 'precious')).status).toBe(401)
    expect((await login('frodo', 'ring-bearer-1')).status).toBe(200)
    await page.reload()
    await expect(fact('Moved')).toContainText('1')
    await expect(fact('Failed')).toContainText('1')
    await expect(card.getByText('Invalid username')).toBeVisible()
    await expectAccessible(page, 'a move')
  })

  await test.step('who has moved stays when it ends', async () => {
    await card.getByRole('button', { name: 'End Move' }).click()
    await dialog(page, 'End the move?').getByRole('button', { name: 'End Move' }).click()
    await expectToast(page, 'Move ended')
    await expect(card.getByText('Off', { exact: true })).toBeVisible()
    await expect(card.getByRole('button', { name: 'End Move' })).toBeHidden()
    await expect(fact('Moved')).toContainText('1')
    old.close()
    const program = await Program.start(request, app)
    const body = { username: 'FRODO', password: 'ring-bearer-1', hwid: 'pc-1' }
    expect((await program.call('POST', '/login', body)).status).toBe(200)
  })
})

test('a viewer, who sees no secrets, does not see the move', { tag: '@full' }, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const viewer = await addMember(request, vendor, { role: 'viewer' })
  await enter(page, viewer, `/apps/${app._id}?tab=integration&dialog=lazy-move`)
  await expect(part(page, `Integrate ${app.name}`)).toBeVisible()
  await settle(page)
  await expect(part(page, section)).toBeHidden()
  await expect(dialog(page, section)).toBeHidden()
})
