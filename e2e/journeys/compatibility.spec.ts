import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { choose, dialog, enter, expectToast, part, readClipboard, Vendor } from '../steps.ts'

const section = 'Programs built for KeyAuth'

test('a vendor turns on the endpoint for shipped programs, and a program that changed its address starts', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await enter(page, vendor, `/apps/${app._id}?tab=integration`)
  const card = part(page, section)
  await expect(card.getByText('Off', { exact: true })).toBeVisible()

  await test.step('with what was copied from the old system', async () => {
    await card.getByRole('button', { name: 'Set Up Compatibility' }).click()
    const form = dialog(page, section)
    await form.getByLabel('Owner ID').fill('too short')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect(form.getByText('An owner ID has exactly 10 letters and digits')).toBeVisible()
    await form.getByLabel('Owner ID').fill('')
    await form.getByLabel('Name', { exact: true }).fill('Shire')
    await form.getByRole('textbox', { name: 'Secret' }).fill('ab'.repeat(32))
    for (const protocol of ['1.2', '1.3']) await form.getByLabel(new RegExp(`^${protocol} `)).uncheck()
    await form.getByRole('button', { name: 'Save' }).click()
    await expect(form.getByText('Choose a protocol')).toBeVisible()
    for (const protocol of ['1.2', '1.3']) await form.getByLabel(new RegExp(`^${protocol} `)).check()
    await expectAccessible(page, 'the dialog of the compatibility')
    await form.getByRole('button', { name: 'Save' }).click()
    await expectToast(page, 'Compatibility saved')
  })

  await test.step('the section says what it is worth, and which lines to change', async () => {
    await expect(card.getByText('On', { exact: true })).toBeVisible()
    await expect(card.getByText('Weaker than Keyward’s own protocol')).toBeVisible()
    await expect(card.getByText('Never')).toBeVisible()
    await expectAccessible(page, 'the compatibility')
    const { publicKey } = await vendor.call('GET', `/apps/${app._id}/compatibility`)
    await card.getByRole('button', { name: 'Copy public key' }).click()
    expect(await readClipboard(page)).toBe(publicKey)
    await choose(card, 'Library of the program', 'Python')
    await card.getByRole('button', { name: 'Copy Lines to change in Python' }).click()
    const copied = await readClipboard(page)
    expect(copied).toContain('- https://keyauth.win/api/1.3/')
    expect(copied).toContain(`+ ${publicKey}`)
  })

  await test.step('a program of 1.2 signs in and is counted', async () => {
    const { ownerId } = await vendor.call('GET', `/apps/${app._id}/compatibility`)
    const { licenses } = await vendor.call('POST', '/licenses', {
      app: app._id,
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      count: 1,
    })
    const send = async (form: Record<string, string>) =>
      (await request.post('/api/1.2/', { form: { name: 'Shire', ownerid: ownerId, ...form } })).json()
    const { sessionid } = await send({ type: 'init', ver: '1.0' })
    const hwid = 'S-1-5-21-1004336348-1177238915-682003330-1001'
    expect(await send({ type: 'license', sessionid, key: licenses[0].key, hwid })).toMatchObject({
      success: true,
    })
    await page.reload()
    const figure = card.locator('dl > div', { hasText: 'Programs in the last 30 days' })
    await expect(figure).toContainText('1')
    await expect(card.getByText('Never')).toBeHidden()
  })

  await test.step('turning it off says who is hurt', async () => {
    await card.getByRole('button', { name: 'Edit Compatibility' }).click()
    const form = dialog(page, section)
    await form.getByRole('switch', { name: 'Answer these programs' }).click()
    await expect(form.getByText('In the last 30 days 1 program used it.')).toBeVisible()
    await form.getByRole('button', { name: 'Save' }).click()
    await expect(card.getByText('Off', { exact: true })).toBeVisible()
    await expect(card.getByText('Weaker than Keyward’s own protocol')).toBeHidden()
  })
})
