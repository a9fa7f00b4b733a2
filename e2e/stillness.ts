import type { Page } from '@playwright/test'
import { expect } from './keyward.ts'
import { settle, visit } from './steps.ts'

const most = 0.05

/** Sums up layout shifts without recent input, with the elements that moved. */
const watch = `
  globalThis.moved = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue
      const where = sources.map(({ node, previousRect: a, currentRect: b }) =>
        (node?.outerHTML ?? node?.textContent ?? 'gone').slice(0, 90) + ' ' + [a.x, a.y, a.width, a.height] + ' -> ' + [b.x, b.y, b.width, b.height])
      globalThis.moved.push({ value, where })
    }
  }).observe({ type: 'layout-shift', buffered: true })
`

/**
 * Delays responses one after the other, like a network. Playwright could do so too, but without the browser's cache: every
 * page would load all scripts again.
 */
const delay = `{
  const send = globalThis.fetch
  globalThis.delayed = 0
  globalThis.waiting = 0
  globalThis.fetch = async (url, init) => {
    if (!String(url?.url ?? url).includes('/api/')) return send(url, init)
    globalThis.delayed += 1
    globalThis.waiting += 1
    try {
      await new Promise((resolve) => setTimeout(resolve, 100 + 60 * (globalThis.delayed % 5)))
      return await send(url, init)
    } finally {
      globalThis.waiting -= 1
    }
  }
}`

/** Watches the pages that are loaded from now on. */
export const watchShifts = (page: Page) => page.addInitScript(watch + delay)

/** Opens a page inside the running console, where its shifts and calls count from zero. */
export async function visitStill(page: Page, path: string) {
  await page.evaluate('globalThis.moved = []; globalThis.delayed = 0')
  await visit(page, path)
}

/** Waits until the page is complete, and expects that it was loaded without layout shift. Public pages send no calls. */
export async function expectStill(page: Page, path: string, { leastCalls = 1 } = {}) {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await settle(page)
  await expect.poll(() => page.evaluate('globalThis.waiting')).toBe(0)
  expect.soft(await page.evaluate('globalThis.delayed'), path).toBeGreaterThanOrEqual(leastCalls)
  await settle(page)
  const moved = await page.evaluate<{ value: number; where: string[] }[]>('globalThis.moved')
  const total = moved.reduce((sum, { value }) => sum + value, 0)
  expect.soft(total, `${path}\n${JSON.stringify(moved, null, 1)}`).toBeLessThan(most)
}

export async function expectStillPages(page: Page, paths: string[], options: { leastCalls?: number } = {}) {
  for (const path of paths) {
    await page.goto(path)
    await expectStill(page, path, options)
  }
}
