import { readFileSync } from 'node:fs'

/**
 * The source of a `checkout.js` that opens the stand-in's window and posts payments to `baseUrl`. Under a policy that
 * allows only the provider's address, pass that address and route it here.
 */
export function checkoutScript(baseUrl: string): string {
  const text = readFileSync(new URL('./checkout.browser.js', import.meta.url), 'utf8')
  return text.replace("'__BASE_URL__'", () => JSON.stringify(baseUrl))
}
