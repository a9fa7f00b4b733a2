import { writeFileSync } from 'node:fs'
import type { Page } from '@playwright/test'

/** Writes a screenshot as WebP. The browser is the encoder: nothing else has to be installed. */
export async function writeWebp(page: Page, path: string, png: Buffer, quality = 0.8) {
  const source = `data:image/png;base64,${png.toString('base64')}`
  const url = await page.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = ${JSON.stringify(source)}
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.naturalWidth
    canvas.height = image.naturalHeight
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', ${quality})
  })()`)
  writeFileSync(path, Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'))
}

/** Shows the pages as on a public server: without the mark of a development server. */
export const hideDevelopment = (page: Page) =>
  page.route('**/api/config', async (route) => {
    const answer = await (await route.fetch()).json()
    await route.fulfill({ json: { ...answer, data: { ...answer.data, development: false } } })
  })
