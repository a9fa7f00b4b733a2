import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { dialog, enter, expectToast, keyPrefix, row } from '../steps.ts'

test('the keyboard goes on in the page after a row is deleted, and at the row otherwise', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const { email } = await createReseller(vendor, app)
  await vendor.createEndUser(app, 'gone-soon')

  await enter(page, vendor, '/resellers')
  const menu = page.getByRole('button', { name: `Actions for ${email}` })
  const remove = page.getByRole('menuitem', { name: 'Delete Reseller' })
  await menu.press('Enter')
  await remove.press('Enter')
  await expect(dialog(page, 'Delete Reseller')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(menu).toBeFocused()
  // No item of this menu has a letter.
  await page.keyboard.press('e')
  await expect(menu).toHaveAttribute('aria-expanded', 'false')
  await menu.press('Enter')
  await remove.press('Enter')
  await dialog(page, 'Delete Reseller').getByRole('textbox').fill(email)
  await page.keyboard.press('Enter')
  await expectToast(page, 'Reseller has been permanently deleted.')
  await expect(menu).toHaveCount(0)
  await expect(page.getByRole('main')).toBeFocused()

  // A row that leaves hands the focus to the one in its place, and the last one to the page.
  const keys = (await vendor.createLicenses(app, 3)).map(({ key }) => keyPrefix(key)).toReversed()
  await page.goto('/licenses?status=unused')
  for (const at of [1, 1, 0]) {
    const [key] = keys.splice(at, 1)
    await page.getByRole('button', { name: `Actions for ${key}` }).press('Enter')
    await page.getByRole('menuitem', { name: 'Ban' }).press('Enter')
    await dialog(page, /^Ban/).getByRole('button', { name: /^Ban/ }).press('Enter')
    await expect(row(page, key!)).toHaveCount(0)
    if (keys.length > 0) await expect(row(page, keys[Math.min(at, keys.length - 1)]!)).toBeFocused()
    else await expect(page.getByRole('main')).toBeFocused()
  }

  await page.goto('/users')
  await page.getByRole('button', { name: 'Actions for gone-soon' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter')
  await dialog(page, /Delete gone-soon/)
    .getByRole('button', { name: /^Delete/ })
    .press('Enter')
  await expectToast(page, 'User Deleted')
  await expect(page.getByRole('main')).toBeFocused()
})

test('the keyboard goes on at the button that copies what a dialog has made', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  await enter(page, vendor, `/licenses?app=${app._id}&dialog=generate`)
  await dialog(page, 'Generate License').getByRole('button', { name: 'Generate' }).press('Enter')
  await expect(
    dialog(page, 'Licenses Generated').getByRole('button', { name: 'Copy license key' }),
  ).toBeFocused()
  await page.keyboard.press('Enter')
  await expectToast(page, 'License key copied to clipboard')
})

test('a letter on a row takes an item of its menu, and a right click opens that menu', {
  tag: '@full',
}, async ({ page, request, keyward }) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const key = keyPrefix((await vendor.createLicenses(app))[0]!.key)
  let arrive = () => {}
  const late = new Promise<void>((resolve) => {
    arrive = resolve
  })
  await page.route('**/overlay-panels-*', (route) => late.then(() => route.continue()))
  await enter(page, vendor, '/licenses')
  const place = row(page, key)
  const menu = page.getByRole('menu')
  const actions = page.getByRole('button', { name: `Actions for ${key}` })
  await expect(async () => {
    await place.focus()
    await page.keyboard.press('b')
    await expect(actions).toBeFocused({ timeout: 500 })
  }).toPass()
  await page.keyboard.press('Escape')
  // Who clicks elsewhere while a menu loads does not want it any more.
  await actions.click()
  await page.getByRole('heading', { level: 1 }).click()
  arrive()
  await actions.click()
  await expect(menu).toBeVisible()
  await page.keyboard.press('Escape')
  // The page may handle keys only some time after it shows the rows.
  await expect(async () => {
    await place.click({ button: 'right', position: { x: 250, y: 5 } })
    await expect(menu).toBeVisible({ timeout: 2000 })
  }).toPass()
  await page.keyboard.press('Escape')
  for (const [letter, title] of [
    ['e', 'Extend License'],
    ['b', 'Ban License'],
  ] as const) {
    await place.focus()
    await page.keyboard.press(letter)
    await expect(dialog(page, title)).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(dialog(page, title)).toHaveCount(0)
  }
  await place.focus()
  await page.keyboard.press('y')
  await expectToast(page, 'License key copied to clipboard')
  await expect(menu).toHaveCount(0)
  await place.focus()
  await page.keyboard.press('Shift+F10')
  await expect(menu.getByRole('menuitem', { name: 'Edit License' })).toBeVisible()
  await page.keyboard.press('Escape')
  await place.getByRole('link').first().click({ button: 'right' })
  await expect(menu).toHaveCount(0)
})
