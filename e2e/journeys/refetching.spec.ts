import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller, premiumVendor } from '../reseller.ts'
import { dialog, enter, expectToast, keyPrefix, rowAction, visit } from '../steps.ts'

/** Longer than the second in which the server merges events, and than a write waits for its event. */
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

test('each of eight edits reads every list of its page once, and neither the profile nor the apps unless they changed', async ({
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
  for (const [path, list, act, toast] of edits) {
    await visit(page, path)
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
