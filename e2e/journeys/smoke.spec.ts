import { expect, test } from '../keyward.ts'

test('a visitor finds the product', { tag: '@phone' }, async ({ page }) => {
  await page.goto('/')
  await expect(page).toHaveTitle(/Keyward/)
})
