import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { isFull } from '../repeated.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { dialog, enter, expectToast, keyPrefix, row, rowAction, Vendor } from '../steps.ts'

/** Longer than the second in which the server merges events. */
const quietMs = 2500

/** Collects the paths that the page reads. */
function watchReads(page: Page) {
  const reads: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (request.method() === 'GET' && pathname.startsWith('/api/')) reads.push(pathname.slice(4) + search)
  })
  return reads
}

/** The page is quiet, and the stream of changes is open. */
async function quiet(page: Page) {
  await page.waitForLoadState('load')
  await page.waitForTimeout(quietMs)
}

test('each edit reads every list of its page once, and neither the profile nor the apps unless they changed', async ({
  page,
  request,
  keyward,
}) => {
  const { vendor, app } = await premiumVendor(request, keyward)
  const [deleted, kept] = (await vendor.createLicenses(app, 2)).map(({ key }) => keyPrefix(key))
  const user = await vendor.createEndUser(app, 'erik')
  await createReseller(vendor, app)
  const reads = watchReads(page)
  await enter(page, vendor, '/licenses')

  const confirm = async (title: string, button: string) => {
    await dialog(page, title).getByRole('button', { name: button, exact: true }).click()
  }
  const edits: [path: string, list: string, act: () => Promise<void>, toast: string][] = [
    [
      '/licenses',
      '/licenses',
      async () => {
        await rowAction(page, kept!, 'Edit License')
        await dialog(page, 'Edit License').getByLabel('Note').fill('seen once')
        await confirm('Edit License', 'Save License')
      },
      'License Updated',
    ],
    [
      '/licenses',
      '/licenses',
      async () => {
        await rowAction(page, kept!, 'Extend License')
        await confirm('Extend License', 'Extend License')
      },
      'License Updated',
    ],
    [
      '/licenses',
      '/licenses',
      async () => {
        await rowAction(page, deleted!, 'Delete License')
        await page.getByRole('alertdialog').getByRole('button', { name: 'Delete License' }).click()
      },
      'License Deleted',
    ],
    [
      '/licenses?dialog=generate',
      '/licenses',
      async () => confirm('Generate License', 'Generate License'),
      'Licenses Generated',
    ],
    [
      `/users?dialog=extend&id=${user._id}`,
      '/clients',
      async () => confirm('Extend erik', 'Extend'),
      'Subscription Extended',
    ],
    [
      '/customers?dialog=create',
      '/customers',
      async () => {
        await page.getByRole('dialog').getByLabel('Email', { exact: true }).fill('anna@example.com')
        await page.getByRole('dialog').getByRole('button', { name: 'Add Customer' }).click()
      },
      'Customer Added',
    ],
    [
      `/dashboard?dialog=edit-app&id=${app._id}`,
      '/apps',
      async () => {
        await dialog(page, 'Edit App').getByLabel('Version').fill('2.0.0')
        await confirm('Edit App', 'Save Changes')
      },
      'App updated successfully',
    ],
    [
      '/settings',
      '/auth/profile',
      async () => page.getByRole('switch', { name: 'HWID Lock' }).click(),
      'Settings updated successfully',
    ],
  ]
  // In `npm test` every fourth one: an edited license and an extended end user.
  for (const [path, list, act, toast] of edits.filter((_, at) => isFull || at % 4 === 0)) {
    // A page that is loaded anew holds nothing old enough to be read again.
    await page.goto(path)
    await quiet(page)
    reads.length = 0
    await act()
    await expectToast(page, toast)
    await expect.poll(() => reads.length).toBeGreaterThan(0)
    await quiet(page)
    const step = `${path}: ${toast}`
    expect(new Set(reads).size, `${step}: ${reads.join(', ')}`).toBe(reads.length)
    const ofList = reads.filter((read) => read.split('?')[0] === list)
    expect(ofList, step).toHaveLength(1)
    if (list !== '/apps' && list !== '/auth/profile')
      expect(
        reads.map((read) => read.split('?')[0]),
        step,
      ).not.toEqual(expect.arrayContaining([expect.stringMatching(/^\/(apps|auth\/profile)$/)]))
  }
})

test('without the stream of changes a page shows a write at once, and after a refused edit what was changed elsewhere', async ({
  page,
  request,
}) => {
  await page.route('**/api/events', (route) => route.abort())
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [deleted, kept] = await vendor.createLicenses(app, 2)
  await enter(page, vendor, '/licenses')
  await rowAction(page, keyPrefix(deleted!.key), 'Delete License')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete License' }).click()
  await expectToast(page, 'License Deleted')
  await expect(row(page, keyPrefix(deleted!.key))).toHaveCount(0)

  await rowAction(page, keyPrefix(kept!.key), 'Edit License')
  const edit = dialog(page, 'Edit License')
  await vendor.call('PUT', `/licenses/${kept!._id}`, { note: 'from elsewhere' })
  await edit.getByLabel('Note').fill('mine')
  await edit.getByRole('button', { name: 'Save License' }).click()
  await expect(page.getByText('Open it again to see the current values')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(row(page, keyPrefix(kept!.key))).toContainText('from elsewhere')
})
