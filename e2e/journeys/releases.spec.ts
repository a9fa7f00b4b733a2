import { createHash } from 'node:crypto'
import type { Release } from '@keyward/contract'
import { expectAccessible, expectStateAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { choose, dialog, enter, expectToast, part, rowAction, Vendor } from '../steps.ts'

test('releases of an app are added with their files, changed, withdrawn and removed', async ({
  page,
  request,
}) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Atlas')
  const list = async (): Promise<Release[]> =>
    (await vendor.call('GET', `/apps/${app._id}/releases`)).releases
  await enter(page, vendor, '/dashboard')
  await rowAction(page, 'Atlas', 'Releases')
  const card = part(page, 'Releases of Atlas')
  await expect(card.getByText('No releases yet')).toBeVisible()
  const add = async () => {
    await card.getByRole('button', { name: 'Add Release' }).click()
    return dialog(page, 'Add Release')
  }
  const first = await add()
  await expect(first.getByLabel('Version')).toHaveValue('1.0.0')
  await first.getByLabel('Link').fill('https://example.com/atlas')
  await first.getByRole('button', { name: 'Add Release' }).click()
  await expectToast(page, 'Version 1.0.0 added')

  const form = await add()
  // The next version is a hint, which a click on the button does not add.
  await expect(form.getByLabel('Version')).toHaveValue('')
  await expect(form.getByLabel('Version')).toHaveAttribute('placeholder', '1.0.1')
  await form.getByLabel('Version').fill('1.0.0')
  await form.getByRole('button', { name: 'Add Release' }).click()
  await expect(form.getByRole('alert')).toHaveText('This version is already listed')
  await form.getByLabel('Version').fill('1.1.0')

  const setup = Buffer.alloc(300_000, 'Größe')
  const files = [
    { name: 'Atlas Übersicht.exe', mimeType: '', buffer: setup },
    { name: 'Atlas-arm64.dmg', mimeType: '', buffer: Buffer.from('koly') },
  ]
  await form.getByLabel('Choose Files').setInputFiles(files)
  const [exe, dmg] = files.map(({ name }) => form.getByRole('group', { name }))
  await expect(exe!.getByText('300 kB')).toBeVisible()
  await exe!.getByLabel('Address').fill('http://example.com/a.exe')
  await expect(dmg!.getByLabel('Architecture')).toHaveValue('arm64')
  await dmg!.getByLabel('Address').fill('https://example.com/Atlas-arm64.dmg')
  await form
    .getByLabel('What is new')
    .fill('# Faster\n\n* <img src=x onerror=alert(1)> **bold**\n* [no](javascript:alert(1))')
  await form.getByRole('button', { name: 'Preview' }).click()
  const preview = form.getByRole('region', { name: 'Preview' })
  await expect(preview.getByText('bold')).toBeVisible()
  await expect(preview.locator('img, a, script')).toHaveCount(0)
  await form.getByRole('switch', { name: 'Security fix' }).click()
  await choose(form, 'Severity', 'Critical')
  await form.getByLabel('Summary').fill('A crafted project file runs code.')
  await form.getByLabel('Fixed in').fill('1.1.0')
  await form.getByRole('button', { name: 'Add Release' }).click()
  await expect(exe!.getByRole('alert')).toHaveText('Please enter a web address that starts with https://')
  await exe!.getByLabel('Address').fill('https://example.com/Atlas.exe')
  await expectAccessible(page, 'add-release')
  await form.getByRole('button', { name: 'Add Release' }).click()
  await expectToast(page, 'Version 1.1.0 added')
  const [added] = (await list()).filter(({ version }) => version === '1.1.0')
  const digestOf = (name: string) => createHash(name).update(setup).digest('hex')
  expect(added).toMatchObject({
    channel: 'stable',
    security: { severity: 'critical', affects: [{ from: null, before: '1.1.0' }] },
    artifacts: [
      {
        ...{ platform: 'windows', architecture: 'x64', kind: 'installer', name: 'Atlas Übersicht.exe' },
        ...{ size: 300_000, url: 'https://example.com/Atlas.exe' },
        ...{ sha512: digestOf('sha512'), sha256: digestOf('sha256'), sha1: digestOf('sha1') },
      },
      { platform: 'macos', architecture: 'arm64', name: 'Atlas-arm64.dmg', size: 4 },
    ],
  })

  const releases = card.getByRole('list', { name: 'Releases' })
  await expect(releases.getByText('Security: critical')).toBeVisible()
  await card.getByLabel('A license whose updates end on').fill('2020-01-01')
  await expect(card.getByText('gets 1.1.0, which is a security fix')).toBeVisible()
  await card.getByRole('button', { name: 'Details of 1.1.0' }).click()
  await expect(releases.getByText('Affected: before 1.1.0.')).toBeVisible()
  await expect(releases.getByText('<img src=x onerror=alert(1)>')).toBeVisible()
  await expect(releases.locator('img')).toHaveCount(0)
  await expect(releases.getByText(digestOf('sha512'))).toBeVisible()
  await expectStateAccessible(page, 'releases')

  const act = async (version: string, action: string) => {
    await card.getByRole('button', { name: `Actions for ${version}` }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  await act('1.1.0', 'Edit Release')
  const edit = dialog(page, 'Edit 1.1.0')
  await expect(edit.getByRole('switch', { name: 'Security fix' })).toBeDisabled()
  await edit.getByLabel('What is new').fill('Faster')
  await edit.getByRole('button', { name: 'Save Release' }).click()
  await expectToast(page, 'Version 1.1.0 changed')
  expect(await list()).toContainEqual({ ...added, notes: 'Faster' })
  await act('1.1.0', 'Withdraw Release')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Withdraw Release' }).click()
  await expectToast(page, 'Version 1.1.0 withdrawn')
  await expect(releases.getByText('Withdrawn')).toBeVisible()
  await expect(card.getByText('gets none of these versions')).toBeVisible()
  await expect(page.getByText('v1.0.0')).toBeVisible()
  for (const version of ['1.1.0', '1.0.0']) await act(version, 'Remove Release')
  await expect(card.getByText('No releases yet')).toBeVisible()
  expect(await list()).toEqual([])
})

test('a misleading release link of an earlier version is readable text, and a safe one opens', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Atlas')
  const release = { version: '1.0.0', releasedAt: '2026-01-01', link: 'https://example.com/atlas' }
  await vendor.call('POST', `/apps/${app._id}/releases`, release)
  await page.route('**/releases', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const [safe] = body.data.releases
    const misleading = { ...safe, _id: 'rel_old', link: 'https://user@example.com/\u202egpj.exe' }
    await route.fulfill({ response, json: { ...body, data: { releases: [safe, misleading] } } })
  })
  await enter(page, vendor, '/dashboard')
  await rowAction(page, 'Atlas', 'Releases')
  const list = part(page, 'Releases of Atlas').getByRole('list', { name: 'Releases' })
  await expect(list.getByText('https://user@example.com/%E2%80%AEgpj.exe')).toBeVisible()
  await expect(list.getByRole('link')).toHaveText(['https://example.com/atlas'])
})
