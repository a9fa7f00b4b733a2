import type { Page } from '@playwright/test'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { mailedLink, test } from '../mailing.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  heading,
  mainNavigation,
  row,
  rowAction,
  signIn,
  storedToken,
  unique,
  Vendor,
} from '../steps.ts'
import { accept, addMember, expireInvitations, invite } from '../team.ts'

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

async function inviteInConsole(page: Page, email: string, role: string, app: string) {
  await button(page, 'Invite Member').first().click()
  const open = dialog(page, 'Invite a Member')
  await open.getByLabel('Email').fill(email)
  await choose(open, 'Role', role)
  await expect(
    open.getByText('Does not change: applications, licenses. Does not delete: end users.'),
  ).toBeVisible()
  const invite = open.getByRole('button', { name: 'Invite', exact: true })
  await invite.click()
  await expect(open.getByText('Choose all applications, or some')).toBeVisible()
  await open.getByText('Some apps').click()
  await choose(open, 'Add an app', app)
  await expectAccessible(page, 'the invitation of a member')
  await invite.click()
}

test('an invited colleague chooses a password with the mailed link and works on one app', {
  tag: '@phone',
}, async ({ page, request, mails, context }) => {
  const vendor = await Vendor.signUp(request, 'Olga Owner')
  const tally = await vendor.createApp('Tally')
  await vendor.createApp('Secret project')
  await vendor.createLicenses(tally)
  const email = `${unique('colleague')}@example.com`
  await enter(page, vendor, '/members')
  await inviteInConsole(page, email, 'Support', 'Tally')
  const ready = dialog(page, 'Invitation ready')
  await expect(ready.getByText(`The link is on its way to ${email}.`, { exact: false })).toBeVisible()
  await expectAccessible(page, 'the link of an invitation')
  const link = await mailedLink(mails, email)
  await expect(ready.getByText(link)).toBeVisible()
  await ready.getByRole('button', { name: 'Done' }).click()
  await expect(row(page, email)).toContainText('Invited')
  await expect(row(page, email)).toContainText('Tally')
  await expectStateAccessible(page, 'members with an invitation')

  const other = await context.browser()!.newContext({ baseURL: new URL(page.url()).origin })
  const theirs = await other.newPage()
  await theirs.goto(link)
  await expect(heading(theirs, 'Join the team')).toBeVisible()
  await theirs.getByLabel('Full Name').fill('Carl Colleague')
  await theirs.getByLabel('Password', { exact: true }).fill('colleague password')
  await expectAccessible(theirs, 'an invitation')
  await button(theirs, 'Accept Invitation').click()
  await expect(theirs).toHaveURL('/dashboard')
  await expectToast(theirs, 'You are in the team of Olga Owner')
  await expect(row(theirs, 'Tally')).toBeVisible()
  await expect(theirs.getByText('Secret project')).toHaveCount(0)
  await expect(button(theirs, 'Add App')).toHaveCount(0)
  await expect(row(page, 'Carl Colleague')).not.toContainText('Invited')

  await theirs.goto('/profile')
  await expect(theirs.getByText('Support', { exact: true }).first()).toBeVisible()
  await expect(theirs.getByText('Plan & Limits')).toHaveCount(0)

  await rowAction(page, 'Carl Colleague', 'Change Role and Apps')
  const edit = dialog(page, 'Rights of Carl Colleague')
  await choose(edit, 'Role', 'Custom')
  await expect(edit.getByLabel('End users: write')).toBeChecked()
  await expect(edit.getByLabel('Plan and payments: write')).toHaveCount(0)
  await edit.getByLabel('End users: write').uncheck()
  await edit.getByLabel('Licenses: write').check()
  await expectAccessible(page, 'a role of its own')
  await edit.getByRole('button', { name: 'Save' }).click()
  await expect(row(page, 'Carl Colleague')).toContainText(
    'Custom: Applications: read · Licenses: read, write',
  )
  await expect(theirs.getByText('Custom', { exact: true }).first()).toBeVisible()
  await other.close()
})

test('a person with an account accepts with its password, and switches between its accounts', {
  tag: '@full',
}, async ({ page, request }) => {
  const owner = await Vendor.signUp(request, 'Acme')
  await owner.createApp('Anvil')
  const person = await Vendor.signUp(request, 'Petra Person')
  await person.createApp('Own app')
  const link = await invite(owner, person.email, { role: 'viewer' })
  await page.goto(link)
  await page.getByText('I have one').click()
  await page.getByLabel('Password', { exact: true }).fill('wrong')
  await button(page, 'Accept Invitation').click()
  await expect(page.getByText('Wrong password.', { exact: false })).toBeVisible()
  await page.getByLabel('Password', { exact: true }).fill(person.password)
  await button(page, 'Accept Invitation').click()
  await expect(row(page, 'Anvil')).toBeVisible()

  // Another tab keeps its account, also after a reload.
  const second = await page.context().newPage()
  await second.goto('/dashboard')
  await expect(row(second, 'Anvil')).toBeVisible()
  await button(page, 'Switch account, now Acme').click()
  await page.getByRole('menuitem', { name: 'Petra Person' }).click()
  await expect(row(page, 'Own app')).toBeVisible()
  await expect(page.getByText('Anvil')).toHaveCount(0)
  await expect(button(page, 'Add App')).toBeVisible()
  await second.reload()
  await expect(row(second, 'Anvil')).toBeVisible()
  const third = await page.context().newPage()
  await third.goto('/dashboard')
  await expect(row(third, 'Own app')).toBeVisible()

  // Signing out ends the sessions of all tabs, on the server too.
  const kept = await second.evaluate<string>(
    `sessionStorage.getItem('keyward-owner-token') ?? localStorage.getItem('keyward-owner-token')`,
  )
  await mainNavigation(page).getByRole('button', { name: 'Log Out' }).click()
  for (const tab of [page, second, third]) await expect(tab).toHaveURL(/\/(auth|landing)?$/)
  await expect
    .poll(async () => {
      const answer = await request.get('/api/auth/profile', { headers: { authorization: `Bearer ${kept}` } })
      return answer.status()
    })
    .toBe(401)
})

test('an expired, withdrawn or replaced invitation says so, and another one works', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  const email = `${unique('colleague')}@example.com`
  const link = await invite(vendor, email, { role: 'viewer' })
  expireInvitations(keyward)
  await page.goto(link)
  await page.getByLabel('Full Name').fill('Late Larry')
  await page.getByLabel('Password', { exact: true }).fill('colleague password')
  await button(page, 'Accept Invitation').click()
  await expect(page.getByText('This invitation does not work')).toBeVisible()
  await expectAccessible(page, 'an expired invitation')

  await enter(page, vendor, '/members')
  await rowAction(page, email, 'Invite Again')
  await dialog(page, `Invite ${email} again?`).getByRole('button', { name: 'Invite Again' }).click()
  const fresh = await dialog(page, 'Invitation ready').locator('code').innerText()
  expect(fresh).not.toBe(link)
  await dialog(page, 'Invitation ready').getByRole('button', { name: 'Done' }).click()
  await accept(request, fresh, { name: 'Late Larry', email, password: 'colleague password' })
  await expect(row(page, 'Late Larry')).toBeVisible()
})

test('the owner changes rights, removes a member and hands the account over', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request, 'Olga Owner')
  const tally = await vendor.createApp('Tally')
  const heir = await addMember(request, vendor, { role: 'support' }, 'Hedda Heir')
  await addMember(request, vendor, { role: 'viewer', apps: [tally._id] }, 'Gus Guest')
  await enter(page, vendor, '/members')

  await rowAction(page, 'Hedda Heir', 'Change Role and Apps')
  const edit = dialog(page, 'Rights of Hedda Heir')
  await choose(edit, 'Role', 'Manager')
  await edit.getByRole('button', { name: 'Save' }).click()
  await expect(row(page, 'Hedda Heir')).toContainText('Manager')

  await rowAction(page, 'Gus Guest', 'Remove')
  await dialog(page, 'Remove Gus Guest?').getByRole('button', { name: 'Remove' }).click()
  await expect(row(page, 'Gus Guest')).toHaveCount(0)

  await rowAction(page, 'Hedda Heir', 'Make Owner')
  const hand = dialog(page, 'Make Hedda Heir the owner of Olga Owner?')
  await expect(hand.getByText('All API keys are revoked', { exact: false })).toBeVisible()
  await hand.getByLabel(/Type/).fill(heir.email)
  await hand.getByRole('button', { name: 'Make Owner' }).click()
  await expect(page.getByText('Your role does not include this page')).toBeVisible()
  await expect(mainNavigation(page).getByRole('link', { name: 'Subscription' })).toHaveCount(0)
  expect((await heir.call('GET', '/auth/profile')).user.role).toBe('owner')
})

test('a person leaves a team, and deletes its account once it owns no apps', { tag: '@full' }, async ({
  page,
  request,
}) => {
  const owner = await Vendor.signUp(request, 'Acme')
  const person = await Vendor.signUp(request, 'Petra Person')
  const app = await person.createApp('Own app')
  const link = await invite(owner, person.email, { role: 'manager' })
  await accept(request, link, person)
  await enter(page, person, '/profile')
  await button(page, 'Leave Acme').click()
  await dialog(page, 'Leave Acme?').getByRole('button', { name: 'Leave' }).click()
  await expect(button(page, 'Leave Acme')).toHaveCount(0)
  expect((await owner.call('GET', '/members')).members).toEqual([])

  await button(page, 'Delete Account').click()
  await expect(dialog(page, 'You still own apps')).toBeVisible()
  await page.keyboard.press('Escape')
  await person.call('DELETE', `/apps/${app._id}`)
  await page.reload()
  await button(page, 'Delete Account').click()
  const confirm = dialog(page, 'Delete your account?')
  await confirm.getByLabel('Password', { exact: true }).fill('wrong')
  await confirm.getByRole('button', { name: 'Delete Account' }).click()
  await expect(confirm.getByRole('alert')).toBeVisible()
  await confirm.getByLabel('Password', { exact: true }).fill(person.password)
  await expectAccessible(page, 'deleting an account')
  await confirm.getByRole('button', { name: 'Delete Account' }).click()
  await expect.poll(() => storedToken(page)).toBeNull()
  await page.goto('/auth')
  await signIn(page, person)
  await expect(page.getByText('Login Failed')).toBeVisible()
})
