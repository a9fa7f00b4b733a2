import { gzipSync } from 'node:zlib'
import type { Page, Request } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { createReseller } from '../reseller.ts'
import { heading, keyPrefix, makePremium, Program, settle, tokenKey, Vendor } from '../steps.ts'

// scripts/budgets.mjs has the same limits; it adds up what the build says that a page loads.
const maxKilobytes = 180
const maxScripts = 25

test('until it is idle, a page of the console requests at most 180 kB of JavaScript in 25 files', async ({
  page,
  request,
  keyward,
}) => {
  // The first view loads the checklist as well, the lists their filters, and the pages of items their parts.
  const newcomer = await Vendor.signUp(request)
  const vendor = await Vendor.signUp(request)
  makePremium(keyward, vendor)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app, 3)
  const user = await vendor.createEndUser(app, 'amy')
  await vendor.call('POST', `/apps/${app._id}/license-types`, { name: 'Pro', term: 'forever' })
  const reseller = await createReseller(vendor, app)
  const { customer } = await vendor.call('POST', '/customers', { email: 'ada@engines.example' })
  await vendor.call('PUT', `/licenses/${license!._id}`, { customer: customer._id })
  await vendor.call('PATCH', `/clients/${user._id}`, { customer: customer._id })

  const used = await vendor.createApp('Reported')
  await Program.start(request, used)

  await page.goto('/theme.js')
  for (const [token, path, title] of [
    [newcomer.token, '/dashboard', /^Welcome/],
    [vendor.token, '/dashboard', /^Welcome/],
    [vendor.token, '/licenses', 'Licenses'],
    [vendor.token, '/imports', 'Imports'],
    [vendor.token, '/orders', 'Orders'],
    [vendor.token, '/users', 'End Users'],
    [vendor.token, '/resellers', 'Resellers'],
    [vendor.token, '/customers', 'Customers'],
    [vendor.token, '/settings', 'Settings'],
    [vendor.token, '/settings/api-keys', 'API Keys'],
    [vendor.token, '/settings/notifications', 'Notifications'],
    [vendor.token, '/settings/integrations', 'Integrations'],
    [vendor.token, '/members', 'Members'],
    [vendor.token, '/audit', 'Audit'],
    [vendor.token, '/activity', 'Activity'],
    [vendor.token, '/profile', 'Profile'],
    [vendor.token, '/profile/security', 'Security'],
    [vendor.token, '/subscription', 'Subscription'],
    [vendor.token, `/apps/${app._id}`, app.name],
    [vendor.token, `/apps/${used._id}`, used.name],
    [vendor.token, `/apps/${used._id}?tab=types`, used.name],
    [vendor.token, `/apps/${used._id}?tab=shops`, used.name],
    [vendor.token, `/licenses/${license!._id}`, keyPrefix(license!.key)],
    [vendor.token, `/users/${user._id}`, 'amy'],
    [vendor.token, `/resellers/${reseller._id}`, reseller.email],
    [vendor.token, `/customers/${customer._id}`, customer.email],
  ] as const) {
    await page.evaluate(`localStorage.setItem('${tokenKey}', '${token}')`)
    const scripts = await scriptsUntilIdle(page, path, async () => {
      await expect(heading(page, title)).toBeVisible()
    })
    const kilobytes = scripts.reduce((sum, { size }) => sum + size, 0) / 1000
    const files = scripts.map(({ url, size }) => `${size} ${url}`).join('\n')
    expect.soft(kilobytes, `${path}\n${files}`).toBeLessThanOrEqual(maxKilobytes)
    expect.soft(scripts.length, `${path}\n${files}`).toBeLessThanOrEqual(maxScripts)
    // Less than React alone means that the requests were not seen.
    expect.soft(kilobytes, path).toBeGreaterThan(70)
  }
})

/** Opens a page and waits until it requests nothing more; the stream of changes opens last and stays. */
async function scriptsUntilIdle(page: Page, path: string, isShown: () => Promise<void>) {
  const isStream = (sent: Request) => new URL(sent.url()).pathname === '/api/events'
  const scripts: Request[] = []
  const open = new Set<Request>()
  const onRequest = (sent: Request) => {
    if (!isStream(sent)) open.add(sent)
    if (sent.resourceType() === 'script') scripts.push(sent)
  }
  const onEnd = (sent: Request) => open.delete(sent)
  page.on('request', onRequest)
  page.on('requestfinished', onEnd)
  page.on('requestfailed', onEnd)
  const stream = page.waitForRequest(isStream)
  await page.goto(path)
  await stream
  await isShown()
  await expect
    .poll(async () => {
      await settle(page)
      return open.size
    })
    .toBe(0)
  page.off('request', onRequest)
  page.off('requestfinished', onEnd)
  page.off('requestfailed', onEnd)
  return Promise.all(
    scripts.map(async (sent) => {
      const answer = await sent.response()
      // A redirect has no body; its target is a request of its own.
      const body = answer?.ok() ? await answer.body() : Buffer.alloc(0)
      return { url: sent.url(), size: gzipSync(body, { level: 9 }).length }
    }),
  )
}
