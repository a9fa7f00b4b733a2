import { readOfTab, writeOfTab } from '../lib/browser/stored.ts'
import { base } from '../lib/navigation/base.ts'

/** The token of a customer, of this tab alone: never where the console keeps its own. */
export function customerSession(appId: string) {
  const key = `keyward-customer-token${base}/${appId}`
  return {
    get: () => readOfTab(key),
    set: (token: string | null) => writeOfTab(key, token),
  }
}
