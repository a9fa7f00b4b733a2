import type { DataOf, endpoints } from '@keyward/contract'
import { useSyncExternalStore } from 'react'
import { createListeners } from '../browser/listeners.ts'
import { base } from '../navigation/base.ts'

export type PublicConfig = DataOf<(typeof endpoints)['system']['config']>

/** The operator's pages that are set, in the order of the footer. */
export function toPolicyLinks(known: PublicConfig | undefined): { label: string; href: string }[] {
  const links = known?.links
  return [
    { label: 'Shipping Policy', href: links?.shipping },
    { label: 'Refund Policy', href: links?.refund },
    { label: 'Payment Terms', href: links?.paymentTerms },
    { label: 'Community', href: links?.community },
    { label: 'Videos', href: links?.videos },
  ].flatMap(({ label, href }) => (href ? [{ label, href }] : []))
}

let config: PublicConfig | undefined
let asked = false
const listeners = createListeners()

function subscribe(listener: () => void) {
  if (!asked) {
    asked = true
    void load()
  }
  return listeners.subscribe(listener)
}

async function load() {
  try {
    const answer = await (await fetch(`${base}/api/config`)).json()
    config = answer.data
    listeners.notify()
  } catch {
    asked = false
  }
}

/**
 * The server's public configuration; undefined until loaded. Uses fetch directly, because the public pages need it and
 * load neither the query client nor the contract's schemas.
 */
export function usePublicConfig(): PublicConfig | undefined {
  return useSyncExternalStore(
    subscribe,
    () => config,
    () => undefined,
  )
}
