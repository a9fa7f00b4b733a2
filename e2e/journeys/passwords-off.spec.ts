import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { heading } from '../steps.ts'

test("without a mail server the pages show the operator's command instead of a form", {
  tag: '@full',
}, async ({ page }) => {
  for (const [path, account] of [
    ['/auth', 'owner'],
    ['/reseller/auth', 'reseller'],
  ] as const) {
    await page.goto(path)
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await expect(page).toHaveURL(`${path}/forgot`)
    await expect(heading(page, 'Forgot your password?')).toBeVisible()
    await expect(page.getByText('Ask the operator of this server for a new password.')).toBeVisible()
    await expect(page.getByText(`npx keyward ${account} reset-password <email>`)).toBeVisible()
    await expect(page.getByLabel('Email')).toHaveCount(0)
    await expectAccessible(page, `${path}/forgot without mail`)
  }
})
