import { AsyncLocalStorage } from 'node:async_hooks'
import { limits } from '@keyward/contract'

/** The User-Agent of the request that is being handled, which sessions keep for their holders; null without one. */
export const currentAgent = new AsyncLocalStorage<string | null>()

/** A User-Agent as it is stored: bounded, without control characters. */
export const toAgent = (header: string | undefined): string | null =>
  header
    ?.replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, limits.agentMax) || null
