import type { DataOf, endpoints } from '@keyward/contract'
import { useSyncExternalStore } from 'react'
import { base } from '../navigation/base.ts'

export type PublicConfig = DataOf<(typeof endpoints)['system']['config']>

let config: PublicConfig | undefined
let asked = false
const listeners = new Set<() => void>()

function subscribe(listener: () => void) {
  listeners.add(listener)
  if (!asked) {
    asked = true
    void load()
  }
  return () => void listeners.delete(listener)
}

async function load() {
  try {
    const answer = await (await fetch(`${base}/api/config`)).json()
    config = answer.data
    for (const listener of listeners) listener()
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
