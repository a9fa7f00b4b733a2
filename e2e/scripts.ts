import { gzipSync } from 'node:zlib'
import type { Page, Request } from '@playwright/test'
import { expect } from './keyward.ts'
import { settle } from './steps.ts'

// scripts/budgets.mjs has the same limits; it adds up what the build says that a page loads.
const maxKilobytes = 180
const maxScripts = 25

/** Opens a page, and expects that it loads few scripts until it requests nothing more. */
export async function openLight(page: Page, path: string, isShown: () => Promise<void>) {
  const scripts = await scriptsUntilIdle(page, path, isShown)
  const kilobytes = scripts.reduce((sum, { size }) => sum + size, 0) / 1000
  const files = scripts.map(({ url, size }) => `${size} ${url}`).join('\n')
  expect.soft(kilobytes, `${path}\n${files}`).toBeLessThanOrEqual(maxKilobytes)
  expect.soft(scripts.length, `${path}\n${files}`).toBeLessThanOrEqual(maxScripts)
  // Less than React alone means that the requests were not seen.
  expect.soft(kilobytes, path).toBeGreaterThan(70)
}

/** Opens a page and waits until it requests nothing more; the stream of changes opens last and stays. */
async function scriptsUntilIdle(page: Page, path: string, isShown: () => Promise<void>) {
  const isStream = (sent: Request) => new URL(sent.url()).pathname === '/api/events'
  const scripts: Request[] = []
  const open = new Set<Request>()
  const onRequest = (sent: Request) => {
    // What the page before still requested does not count.
    if (sent.isNavigationRequest()) {
      scripts.length = 0
      open.clear()
    }
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
  // A busy browser requests some again that it had requested ahead.
  const last = new Map(scripts.map((sent) => [sent.url(), sent]))
  return Promise.all(
    [...last].map(async ([url, sent]) => {
      const size = sizes.get(url) ?? (await sizeOf(sent))
      sizes.set(url, size)
      return { url, size }
    }),
  )
}

/** The names of scripts contain a hash of what they hold, so each is read and compressed once. */
const sizes = new Map<string, number>()

async function sizeOf(sent: Request): Promise<number> {
  const answer = await sent.response()
  // A redirect has no body; its target is a request of its own.
  const body = answer?.ok() ? await answer.body() : Buffer.alloc(0)
  return gzipSync(body, { level: 9 }).length
}
