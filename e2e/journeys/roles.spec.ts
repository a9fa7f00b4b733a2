import type { Page } from '@playwright/test'
import { expectAccessible } from '../accessibility.ts'
import { type Busy, busyVendor } from '../busy.ts'
import { expect, test } from '../keyward.ts'
import { ownerPages, someOf } from '../pages.ts'
import { isFull } from '../repeated.ts'
import { premiumVendor } from '../reseller.ts'
import {
  enter,
  heading,
  mainNavigation,
  openMenu,
  openPalette,
  settle,
  type Vendor,
  visit,
} from '../steps.ts'
import { addMember } from '../team.ts'

/** Every dialog of the console that has an address. */
const dialogsOf = ({ app, license, user, webhook, shop, customer }: Busy) => [
  '/dashboard?dialog=new-app',
  ...['edit-app', 'delete-app'].map((name) => `/dashboard?dialog=${name}&id=${app._id}`),
  ...['generate', 'import', 'delete-all'].map((name) => `/licenses?dialog=${name}`),
  ...['extend', 'edit-license', 'attach', 'delete'].map(
    (name) => `/licenses?dialog=${name}&id=${license._id}`,
  ),
  '/users?dialog=create',
  ...['ban', 'extend', 'variables', 'delete'].map((name) => `/users?dialog=${name}&id=${user._id}`),
  ...['edit-expiry', 'edit-user', 'set-password', 'add-license', 'link-customer'].map(
    (name) => `/users/${user._id}?dialog=${name}`,
  ),
  `/licenses/${license._id}?dialog=link-customer`,
  '/customers?dialog=create',
  ...['edit', 'erase'].map((name) => `/customers/${customer._id}?dialog=${name}`),
  '/resellers?dialog=create',
  `/apps/${app._id}?dialog=activate-offline`,
  `/apps/${app._id}?tab=shops&dialog=new-shop`,
  ...['connect-shop', 'edit-shop', 'replace-secret', 'pause-shop', 'delete-shop'].map(
    (name) => `/apps/${app._id}?tab=shops&dialog=${name}&id=${shop._id}`,
  ),
  ...['compatibility', 'lazy-move', 'end-lazy-move'].map(
    (name) => `/apps/${app._id}?tab=integration&dialog=${name}`,
  ),
  '/settings?dialog=reset-data',
  '/members?dialog=invite',
  '/settings/integrations?dialog=create',
  ...['edit', 'pause', 'rotate', 'delete'].map(
    (name) => `/settings/integrations?dialog=${name}&id=${webhook._id}`,
  ),
]

const changing =
  /^(Add|Allow|Activate|Ban|Block|Buy|Cancel subscription|Connect|Create|Deactivate|Delete|Edit|End Move|Extend|Free|Generate|HWID Lock|Import|Invite|Make|New|Pause|Promote|Remove|Renew|Replace|Reset|Resume|Retry|Revoke|Rotate|Save|Send|Set Up Compatibility|Set Up Move|Suspend|Turn|Unban|Unblock|Upgrade|Withdraw)\b/

const roles = {
  viewer: { absent: ['/imports'], may: /^$/, changes: /^$/ },
  support: {
    absent: [
      '/imports',
      '/resellers',
      '/sales',
      '/members',
      '/audit',
      '/subscription',
      '/settings/integrations',
    ],
    may: /^(Activate Offline|Deactivate with Code|Ban|Unban|Create (E|e)nd (U|u)ser|Edit (Variables|Customer|Expiry|End User)|Add (C|c)ustomer|Extend( Subscription)?|Free|Pause Subscription|Resume Subscription|Reset HWID)\b/,
    changes:
      /users\?dialog=(create|ban|extend|variables)|activate-offline|users\/.*(edit-expiry|edit-user|set-password|link-customer)|customers\?dialog=create|customers\/.*edit/,
  },
}

/** Pages of the person, who changes them in every role, and one that journeys of API keys visit. */
const personal = ['/profile', '/profile/security', '/settings/notifications', '/settings/api-keys']

/** The names of everything that can be pressed, in the page and in its open menus and dialogs. */
const controls = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('#main, [role="menu"], [role="dialog"]')]
    .flatMap((part) => [...part.querySelectorAll('button, a, [role="menuitem"], [role="switch"]')])
    .map((control) => (control.getAttribute('aria-label') ?? control.textContent).trim())`)

// In `npm test` the role with rights of its own; the other one may change nothing.
const checked = Object.entries(roles).filter(([role]) => isFull || role === 'support')
for (const [part, [role, { absent, may, changes }]] of checked.entries()) {
  test(`every page leaves out what the role ${role} does not include, and no request is refused`, async ({
    page,
    request,
    keyward,
  }) => {
    const busy = await busyVendor([request, keyward], { licenses: 2, users: 1 })
    const member = await addMember(request, busy.vendor, { role: role as 'viewer' | 'support' })
    const refused: string[] = []
    page.on('response', (answer) => {
      if (answer.status() === 403) refused.push(`${answer.request().method()} ${answer.url()}`)
    })
    const expectAllowed = async (where: string) => {
      const found = (await controls(page)).filter((name) => changing.test(name) && !may.test(name))
      expect.soft(found, where).toEqual([])
    }

    await enter(page, member, '/dashboard')
    await expect(heading(page, /^Welcome/)).toBeVisible()
    const sidebar = await mainNavigation(page).getByRole('link').allInnerTexts()
    for (const path of absent)
      expect.soft(sidebar.map((name) => `/${name.toLowerCase()}`)).not.toContain(path)
    const pages = ownerPages(busy).filter(({ path }) => !personal.includes(path))
    for (const { path, title } of someOf(pages, part)) {
      await visit(page, path)
      if (absent.some((one) => `${path}/`.startsWith(`${one}/`))) {
        await expect(page.getByText('Your role does not include this page')).toBeVisible()
        continue
      }
      await expect(heading(page, title)).toBeVisible()
      await settle(page)
      await expectAllowed(path)
      // Selected licenses can be exported; nothing but changes can be done with selected end users.
      if (path === '/users') {
        const selects = page.locator('#main').getByRole('checkbox')
        await expect(selects).toHaveCount(role === 'viewer' ? 0 : 2)
      }
      const menus = page.locator('#main').getByRole('button', { name: /^(Actions for|More actions)/ })
      for (const menu of (await menus.all()).slice(0, 2)) {
        await menu.click()
        await expect(page.getByRole('menu')).toBeVisible()
        await expectAllowed(`a menu of ${path}`)
        await page.keyboard.press('Escape')
        await expect(page.getByRole('menu')).toHaveCount(0)
      }
      await page.keyboard.press('c')
      if (!may.test('Create end user') || !['/users', '/customers'].includes(path)) {
        await expect(page.locator('[role="dialog"], [role="alertdialog"]')).toHaveCount(0)
      } else await page.keyboard.press('Escape')
    }
    for (const path of someOf(dialogsOf(busy), part)) {
      await visit(page, path)
      await settle(page)
      const open = page.locator('[role="dialog"], [role="alertdialog"]')
      const isOpen = (await open.count()) > 0
      expect.soft(isOpen, path).toBe(changes.test(path))
    }
    await openPalette(page)
    await page.keyboard.type('erik')
    await expect(page.getByRole('option', { name: /^erik/ })).toBeVisible()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Backspace')
    const offered = await page.getByRole('option').allInnerTexts()
    expect.soft(offered.filter((name) => changing.test(name) && !may.test(name))).toEqual([])
    expect(refused).toEqual([])
  })
}

test('a page that the role does not include says so, and the sidebar names the role', {
  tag: '@phone',
}, async ({ page, request, keyward }) => {
  const { vendor } = await premiumVendor(request, keyward)
  const member = await addMember(request, vendor, { role: 'support' })
  await enter(page, member, '/resellers')
  await expect(page.getByText('Your role does not include this page')).toBeVisible()
  await expectAccessible(page, 'a page that the role does not include')
  await openMenu(page)
  await expect(page.getByText(`Support at ${vendor.name}`)).toBeVisible()
})

test('a change of role adapts an open window without a reload', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor } = await premiumVendor(request, keyward)
  const member = await addMember(request, vendor, { role: 'manager' })
  await enter(page, member, '/resellers')
  await expect(page.getByRole('button', { name: 'Add Reseller' })).toBeVisible()
  await page.evaluate('window.sameDocument = true')
  const { members } = await vendor.call('GET', '/members')
  await vendor.call('PATCH', `/members/${members[0]._id}`, { role: 'viewer' })
  await expect(page.getByRole('button', { name: 'Add Reseller' })).toHaveCount(0)
  await expect(page.getByRole('button', { name: /^Edit/ })).toHaveCount(0)
  await vendor.call('PATCH', `/members/${members[0]._id}`, { role: 'support' })
  await expect(page.getByText('Your role does not include this page')).toBeVisible()
  await vendor.call('PATCH', `/members/${members[0]._id}`, { role: 'manager' })
  await expect(page.getByRole('button', { name: 'Add Reseller' })).toBeVisible()
  expect(await page.evaluate('window.sameDocument')).toBe(true)
})

test('a member that is removed is signed out of an open window, with the reason', { tag: '@full' }, async ({
  page,
  request,
  keyward,
}) => {
  const { vendor } = await premiumVendor(request, keyward)
  const member = await addMember(request, vendor, { role: 'manager' })
  await enter(page, member, '/licenses')
  await expect(heading(page, 'Licenses')).toBeVisible()
  await removeMember(vendor)
  await expect(page).toHaveURL('/auth')
  await expect(
    page.getByText(`Your session has ended, or you no longer have access to ${vendor.name}.`),
  ).toBeVisible()
})

async function removeMember(vendor: Vendor) {
  const { members } = await vendor.call('GET', '/members')
  await vendor.call('DELETE', `/members/${members[0]._id}`)
}
