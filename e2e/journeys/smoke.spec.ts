import { expect, test } from '../keyward.ts'

test('a visitor finds the product', async ({ page }) => {
  await page.goto('/')
  await expect(page).toHaveTitle(/Keyward/)
})
