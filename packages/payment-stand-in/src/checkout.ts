import { readFileSync } from 'node:fs'

/**
 * The text of a `checkout.js` that opens the stand-in's window. `baseUrl` is where the window makes its payments;
 * under a policy that lets pages call the provider alone, pass the provider's address and route it here.
 */
export function checkoutScript(baseUrl: string): string {
  const text = readFileSync(new URL('./checkout.browser.js', import.meta.url), 'utf8')
  return text.replace("'__BASE_URL__'", () => JSON.stringify(baseUrl))
}
