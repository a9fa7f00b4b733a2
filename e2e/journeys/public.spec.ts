import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { heading, isPhone, settle } from '../steps.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const lit = (page: Page) => page.locator('[data-lit=true]')

test('the landing page links to sign-in and dashboard, and switches its theme', {
  tag: '@phone',
}, async ({ page }) => {
  await page.goto('/')
  await expect(page).toHaveTitle(/Keyward/)
  await expect(heading(page, /./)).toBeVisible()
  for (const [name, path, count] of [
    ['Sign in', '/auth', 1],
    ['Get started', '/auth?tab=sign-up', 2],
    ['Go to the dashboard', '/dashboard', 1],
  ] as const) {
    const links = page.getByRole('link', { name, exact: true })
    await expect(links).toHaveCount(count)
    for (const link of await links.all()) await expect(link).toHaveAttribute('href', path)
  }
  await expect(page.getByRole('region', { name: 'Keyward in numbers' })).toBeVisible()
  await expect(page.getByText('Sample testimonials')).toBeVisible()
  const footer = page.getByRole('contentinfo')
  await expect(footer).toContainText('Secure authentication platform')
  await expect(footer).toContainText(`Version ${version}`)
  for (const name of ['About', 'Terms', 'Privacy']) {
    await expect(footer.getByRole('link', { name, exact: true })).toHaveAttribute(
      'href',
      `/${name.toLowerCase()}`,
    )
  }

  const prices = page.getByRole('region', { name: 'Start free, pay when you grow' })
  await test.step('the landing page shows use cases, the console, the code and the prices of the server', async () => {
    for (const name of ['An indie tool', 'A reseller network', 'A game mod', 'What a signed verdict stops']) {
      await expect(page.getByRole('heading', { level: 3, name })).toBeVisible()
    }
    await expect(page.getByText("import { Keyward } from '@keyward/sdk'")).toBeVisible()
    await expect(page.getByText('Free for 2 apps with 30 licenses each.')).toBeVisible()
    await page.getByRole('link', { name: 'Premium for ₹699 per month' }).click()
    await expect(prices).toBeInViewport()
    await expect(prices).toContainText('Save 86%: ₹1,199 instead of 12 × ₹699')
    await expect(prices).toContainText('30 licenses per application')
    for (const link of await prices.getByRole('link').all())
      await expect(link).toHaveAttribute('href', '/auth')

    const tour = page.getByRole('region', { name: 'A console for the whole day’s work' })
    const shown = tour.getByRole('img')
    await expect(shown).toHaveCount(isPhone(page) ? 1 : 3)
    for (const picture of await shown.all()) {
      await picture.scrollIntoViewIfNeeded()
      await expect
        .poll(() => picture.evaluate<number, { naturalWidth: number }>((image) => image.naturalWidth))
        .toBeGreaterThan(700)
      const [loaded, reserved] = await picture.evaluate<
        [number, number],
        { naturalWidth: number; naturalHeight: number; getAttribute(name: string): string }
      >((image) => [
        image.naturalWidth / image.naturalHeight,
        Number(image.getAttribute('width')) / Number(image.getAttribute('height')),
      ])
      expect(loaded).toBeCloseTo(reserved, 2)
    }
    const loadedThemes = () =>
      page.evaluate<string[]>(
        `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.webp'))`,
      )
    for (const name of await loadedThemes()) expect(name).toMatch(/-light-/)
  })

  // A click before the scripts have loaded would be lost.
  await expect(page.locator('#root')).not.toHaveAttribute('data-prerendered')
  const html = page.locator('html')
  await expect(html).not.toHaveClass(/dark/)
  await page.getByRole('button', { name: 'Use the dark theme' }).click()
  await expect(html).toHaveClass(/dark/)
  await page.getByRole('button', { name: 'Use the light theme' }).click()
  await expect(html).not.toHaveClass(/dark/)

  // Another page links to the prices, which load after the page.
  if (isPhone(page)) return
  await page.goto('/about')
  await page.getByRole('link', { name: 'Pricing' }).click()
  await expect(prices).toBeInViewport()
})

test('rendering never reads the OS theme, which would suppress the event of its change', {
  tag: '@full',
}, async ({ page }) => {
  await page.addInitScript({
    content: `
      window.readers = []
      const { get } = Object.getOwnPropertyDescriptor(MediaQueryList.prototype, 'matches')
      Object.defineProperty(MediaQueryList.prototype, 'matches', {
        get() {
          if (this.media.includes('color-scheme')) window.readers.push(new Error('read').stack)
          return get.call(this)
        },
      })`,
  })
  await page.goto('/about')
  await expect(page.locator('#root')).not.toHaveAttribute('data-prerendered')
  await expect(page.getByRole('button', { name: 'Use the dark theme' })).toBeVisible()
  await settle(page)
  // The script before the first paint, and the start of the page.
  expect(await page.evaluate<string[]>('readers')).toHaveLength(2)
})

test('a highlight moves over the six cards every three seconds, and pauses on hover', {
  tag: '@full',
}, async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.clock.install()
  await page.goto('/landing')
  const cards = page.locator('li[data-lit]')
  await expect(cards).toHaveCount(6)
  const titles = await cards.getByRole('heading').allInnerTexts()
  const title = () => lit(page).getByRole('heading').innerText()
  const pause = page.getByRole('button', { name: 'Pause the highlight' })
  // Once it can be paused, the page has replaced the prerendered HTML.
  await expect(async () => {
    if ((await pause.getAttribute('aria-pressed')) === 'false') await pause.click()
    await expect(pause).toHaveAttribute('aria-pressed', 'true', { timeout: 500 })
  }).toPass()
  await pause.click()
  await expect(pause).toHaveAttribute('aria-pressed', 'false')
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1000)
  // It continues after the pointer leaves.
  await pause.focus()
  await pause.blur()
  const first = titles.indexOf(await title())
  for (let step = 1; step <= 6; step += 1) {
    await page.clock.runFor(2900)
    expect(await title()).toBe(titles[(first + step - 1) % 6])
    await page.clock.runFor(100)
    await expect.poll(title).toBe(titles[(first + step) % 6])
  }
  await pause.focus()
  await page.clock.runFor(6500)
  expect(await title()).toBe(titles[first])
})

test('the highlight does not move with reduced motion', { tag: '@full' }, async ({ page }) => {
  await page.goto('/landing')
  await expect(page.locator('li[data-lit]')).toHaveCount(6)
  await expect(lit(page)).toHaveCount(0)
})

test('terms and privacy state their audience, date and periods', async ({ page }) => {
  await page.goto('/terms')
  const main = page.getByRole('main')
  await expect(main).toContainText('Last updated September 15, 2025')
  for (const text of [/administrator/i, /reseller/i, /end user/i, 'Children under 13', '12 months']) {
    await expect(main).toContainText(text)
  }
  await page.goto('/privacy')
  await expect(main).toContainText('Last updated September 15, 2025')
  for (const text of [
    /administrator/i,
    /reseller/i,
    /end user/i,
    'within 30 days',
    '12–24 months',
    'children under 13',
  ]) {
    await expect(main).toContainText(text)
  }

  await test.step('the about page leads to the licenses of the packages in the console', async () => {
    await page.goto('/about')
    await page.getByRole('link', { name: 'third-party notices' }).click()
    await expect(page).toHaveURL('/third-party-notices.txt')
    const notices = page.locator('body')
    // Code, an own chunk of it, styles, a font, and what the bundler adds.
    for (const name of ['react-dom', 'zod', 'tailwindcss', '@fontsource-variable/inter', 'rolldown']) {
      await expect(notices).toContainText(new RegExp(`\\n${name} \\d+\\.\\d+\\.\\d+ \\(`))
    }
    await expect(notices).toContainText('SIL OPEN FONT LICENSE')
  })

  await test.step('the footer links to the policies and the community that the operator configured', async () => {
    const links = {
      shipping: 'https://pay.example.com/shipping',
      refund: 'https://pay.example.com/refund',
      paymentTerms: 'https://pay.example.com/terms',
      community: 'https://chat.example.com/',
      videos: 'https://videos.example.com/',
    }
    await page.route('**/api/config', async (route) => {
      const { data, ...rest } = await (await route.fetch()).json()
      await route.fulfill({ json: { ...rest, data: { ...data, links } } })
    })
    await page.goto('/landing')
    const footer = page.getByRole('contentinfo')
    for (const href of Object.values(links)) await expect(footer.locator(`a[href="${href}"]`)).toBeVisible()
  })
})

test('an unknown path shows the 404 page before and after scripts run', { tag: '@full' }, async ({
  page,
  browser,
  baseURL,
}) => {
  const plain = await browser.newPage({ baseURL, javaScriptEnabled: false })
  const answer = await plain.goto('/no-such-page')
  expect(answer?.status()).toBe(404)
  await expect(heading(plain, 'Oops! Page not found')).toBeVisible()
  await plain.close()

  await page.addInitScript(`
    globalThis.spun = false
    new MutationObserver(() => {
      if (document.querySelector('.animate-spin')) globalThis.spun = true
    }).observe(document, { childList: true, subtree: true })
  `)
  await page.goto('/no-such-page')
  await settle(page)
  await expect(heading(page, 'Oops! Page not found')).toBeVisible()
  expect(await page.evaluate('globalThis.spun')).toBe(false)
})
