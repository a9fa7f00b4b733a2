import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'

test.use({ environment: { REGISTRATION: 'closed' } })

test('the first owner of a closed server signs up with the link of the start', {
  tag: ['@full', '@phone'],
}, async ({ page, keyward }) => {
  const link = /http\S+#kwf_\S+/.exec(keyward.output())?.[0] ?? ''
  await page.goto('/auth?tab=sign-up')
  await expect(page.getByText('Registration is closed')).toBeVisible()

  await page.goto('about:blank')
  await page.goto(link)
  await page.getByRole('tab', { name: 'Sign In' }).click()
  await page.getByRole('tab', { name: 'Sign Up' }).click()
  await expectAccessible(page, 'sign-up with a link')
  await page.getByLabel('Full Name').fill('Vera')
  await page.getByLabel('Email').fill('vera@example.com')
  await page.getByLabel('Password', { exact: true }).fill('correct horse')
  await page.getByLabel('Confirm Password').fill('correct horse')
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await expect(page).toHaveURL('/dashboard')

  await page.evaluate(() => localStorage.clear())
  await page.goto('about:blank')
  await page.goto(link)
  await page.getByLabel('Full Name').fill('Eve')
  await page.getByLabel('Email').fill('eve@example.com')
  await page.getByLabel('Password', { exact: true }).fill('correct horse')
  await page.getByLabel('Confirm Password').fill('correct horse')
  await page.getByRole('button', { name: 'Sign Up' }).click()
  await expect(page.getByText('This link has expired or was already used.')).toBeVisible()
})
