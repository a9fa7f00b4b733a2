import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, expect, type Page } from '@playwright/test'
import { Keyward as Sdk } from '../../packages/sdk/src/index.ts'
import { test } from '../keyward.ts'
import { unique } from '../steps.ts'

const base = '/tools/keyward'
test.use({ environment: { PUBLIC_URL: `http://localhost${base}` } })

/** A proxy that serves Keyward under the base path and strips it from forwarded requests. */
async function startStrippingProxy(target: string) {
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming
    if (!url.startsWith(`${base}/`)) return outgoing.writeHead(404).end()
    const passed = forward(`${target}${url.slice(base.length)}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Uses the product from the landing page to a program's check, all under the base path. */
async function useAll(browser: Browser, origin: string) {
  const page = await browser.newPage({ baseURL: origin, reducedMotion: 'reduce' })
  page.setDefaultTimeout(20_000)
  const failed: string[] = []
  page.on('response', (response) => {
    if (response.status() >= 400 || !new URL(response.url()).pathname.startsWith(base))
      failed.push(`${response.status()} ${response.url()}`)
  })
  page.on('pageerror', (error) => failed.push(String(error)))
  const isAt = (path: string) => expect(page).toHaveURL(`${origin}${base}${path}`)

  await page.goto(`${base}/`)
  await page.getByRole('link', { name: 'Sign in' }).first().click()
  await isAt('/auth')
  const token = await signUp(page, origin)
  await page.getByRole('button', { name: /Collapse sidebar/ }).click()
  await expect
    .poll(async () => (await page.context().cookies()).map(({ path }) => path))
    .toEqual([`${base}/`])
  await page.reload()
  await isAt('/dashboard')
  await page.getByRole('link', { name: 'Settings' }).first().click()
  await isAt('/settings')
  await page.getByRole('link', { name: 'Subscription' }).first().click()
  await isAt('/subscription')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.getByRole('link', { name: 'Dashboard' }).first().click()
  await isAt('/dashboard')
  await page.goto(`${base}/reseller/auth`)
  await expect(page.getByRole('button', { name: /sign in/i })).toBeVisible()
  await page.goto(`${base}/docs`)
  await expect(page.getByRole('heading', { name: 'API reference' })).toBeVisible()
  const { appId, key } = await runProgram(`${origin}${base}`, token)
  await page.goto(`${base}/u/${appId}`)
  await page.getByRole('textbox', { name: 'License key' }).fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { name: 'Your license for Tally' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('main')).toContainText(key)
  await isAt(`/u/${appId}`)
  expect(failed).toEqual([])
  await page.close()
}

async function signUp(page: Page, origin: string): Promise<string> {
  const data = { name: 'Vera', email: `${unique('vendor')}@example.com`, password: unique('long-enough') }
  const answer = await page.request.post(`${origin}${base}/api/auth/register`, { data })
  await expect(page.locator('#root')).not.toHaveAttribute('inert')
  await page.getByLabel('Email').first().fill(data.email)
  await page.getByLabel('Password', { exact: true }).first().fill(data.password)
  await page.getByRole('button', { name: 'Sign in', exact: false }).last().click()
  await expect(page).toHaveURL(`${origin}${base}/dashboard`)
  return (await answer.json()).data.token
}

type Answered = ReturnType<typeof JSON.parse>

/** A program with a license of an app whose page for customers is on. */
async function runProgram(baseUrl: string, token: string): Promise<{ appId: string; key: string }> {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${baseUrl}/api${path}`, { method, headers, body: JSON.stringify(body) })
    return ((await answer.json()) as { data: Answered }).data
  }
  const { app } = await call('POST', '/apps', { name: 'Tally' })
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  const { license } = await call('POST', '/licenses', { app: app._id, expiresAt })
  const { keys: publicKeys } = await call('GET', `/client/apps/${app.appId}/keys`)
  const { appId, appSecret: secret } = app
  const program = new Sdk({ baseUrl, appId, secret, publicKeys, version: '1.0.0', hwid: 'machine' })
  expect(await program.license(license.key)).toMatchObject({ ok: true })
  await call('PUT', `/apps/${app._id}`, { settings: { customerPage: true } })
  return { appId, key: license.key }
}

test('everything works under a base path, whether or not the proxy forwards it', { tag: '@full' }, async ({
  browser,
  keyward,
}) => {
  test.slow()
  await useAll(browser, keyward.url)
  const proxy = await startStrippingProxy(keyward.url)
  try {
    await useAll(browser, proxy.url)
  } finally {
    proxy.stop()
  }
})
