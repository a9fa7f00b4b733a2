import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import { expect, test } from './keyward.ts'
import { isFull, phone } from './repeated.ts'

const { resolve } = createRequire(import.meta.resolve('@axe-core/playwright'))
const source = readFileSync(resolve('axe-core/axe.min.js'), 'utf8')
const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Waits until animations end, because axe would report colors of a running transition. */
const settled = `new Promise((done) => {
  let quiet = 0
  const check = () => {
    const moving = document.getAnimations().some(({ playState }) => playState === 'running')
    quiet = moving ? 0 : quiet + 1
    if (quiet > 5) done()
    else requestAnimationFrame(check)
  }
  check()
})`

interface AccessibleOptions {
  /** A selector of the part to check; the whole page by default. */
  within?: string
  /** Rules of axe to ignore. */
  exempt?: string[]
  /** The theme in `npm test`. */
  theme?: Theme
}

export type Theme = 'light' | 'dark'

/**
 * In the full run both themes. A test that also runs on a phone shows each once there: the light one on the desktop, the dark
 * one on the phone. In `npm test` one, because pages share their colors.
 */
function themes(theme: Theme): Theme[] {
  const { tags, project } = test.info()
  if (!isFull) return [theme]
  if (!tags.includes('@phone')) return ['light', 'dark']
  return project.name === 'phone' ? ['dark'] : ['light']
}

/** Checks the screen for violations, in the themes of its test, and for horizontal overflow. */
export async function expectAccessible(
  page: Page,
  what: string,
  { within, exempt = [], theme = 'light' }: AccessibleOptions = {},
) {
  for (const [index, colorScheme] of themes(theme).entries()) {
    await page.emulateMedia({ colorScheme })
    // The server's own pages follow the device by CSS alone.
    if ((await page.locator('#root').count()) > 0)
      await expect(page.locator('html')).toHaveClass(colorScheme === 'dark' ? /dark/ : /^((?!dark).)*$/)
    await page.evaluate(settled)
    // The second theme differs only in colors.
    const only =
      index === 0
        ? { type: 'tag', values: standards }
        : { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }
    expect.soft(await violationsIn(page, only, within, exempt), `${what}, ${colorScheme}`).toEqual([])
  }
  await expectToFit(page, what)
}

/** Checks another state of a page that `npm test` checks elsewhere, so there only whether it fits. */
export const expectStateAccessible = (page: Page, what: string) =>
  isFull ? expectAccessible(page, what) : expectToFit(page, what)

/** Loads axe once per document, because compiling it takes longer than most checks, and gets what it says of violations alone. */
async function violationsIn(page: Page, runOnly: object, within: string | undefined, exempt: string[]) {
  for (const frame of page.frames())
    if (!(await frame.evaluate(`'axe' in window`))) await frame.evaluate(source)
  const without = exempt.map((rule) => [rule, { enabled: false }])
  // Axe leaves target-size, a rule of WCAG 2.2, out by default.
  const rules = { 'target-size': { enabled: true }, ...Object.fromEntries(without) }
  const options = JSON.stringify({ runOnly, rules, resultTypes: ['violations'] })
  return page.evaluate<string[]>(`
    axe.run(${within ? JSON.stringify(within) : 'document'}, ${options}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(' | ')))`)
}

export async function expectToFit(page: Page, what: string) {
  const [content, screen] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, window.innerWidth]',
  )
  expect.soft(content, `${what}: width`).toBeLessThanOrEqual(screen)
  expect.soft(screen, `${what}: screen`).toBe(page.viewportSize()?.width)
}

/** Makes the screen as narrow as a phone's for a moment. */
export async function expectToFitPhone(page: Page, what: string) {
  const size = page.viewportSize()
  await page.setViewportSize(phone)
  await expectToFit(page, `${what}, on a phone`)
  if (size) await page.setViewportSize(size)
}
