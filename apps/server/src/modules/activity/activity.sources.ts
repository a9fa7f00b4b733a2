import { hour } from '../../core/clock.ts'
import { networkOf } from '../../core/networks/caller.ts'
import type { NewActivity } from './activity.repo.ts'

export interface ActivityInput {
  ownerId: string
  appId: string
  clientId?: string | null
  kind: string
  call?: string | null
  code?: string | null
  subject?: string | null
  address?: string | null
  detail?: object
  /** Events with different variants get different rows and references. It has few values, so a flood fills few rows. */
  variant?: string | null
}

/** The part of an app's log that a kind of event has for itself. */
export type Share = 'init' | 'refusals' | 'sign_ins' | 'logs' | 'other'

export function shareOf({ kind, call }: Pick<ActivityInput, 'kind' | 'call'>): Share {
  if (kind === 'init' || call === 'init') return 'init'
  if (kind === 'refused') return 'refusals'
  if (kind === 'program.logged') return 'logs'
  return kind === 'end_user.signed_in' ? 'sign_ins' : 'other'
}

/** Events of one source in an hour that get rows of their own; later ones are gathered. */
export const ownRows = { network: 50, endUser: 200 }
const sourcesMax = 20_000

export interface Repeated {
  row: NewActivity
  /** Repetitions that the stored row does not count yet. */
  unsaved: number
}

/**
 * Who causes events of an app: an end user, or the network of an unknown caller. A source that causes many different ones in
 * an hour gets one more row for each kind, which counts the rest.
 */
export class Sources {
  #rows = new Map<string, number>()
  #gathered = new Map<string, Repeated>()
  #since = 0

  renew(now: number): void {
    if (Math.abs(now - this.#since) < hour) return
    this.#rows = new Map()
    this.#gathered = new Map()
    this.#since = now
  }

  /** The key of the row that gathers this event; undefined if it gets a row of its own. */
  keyOf(event: ActivityInput, share: Share): string | undefined {
    const { appId, clientId = null, address = null } = event
    if (clientId === null && address === null) return undefined
    const source = JSON.stringify([appId, share, clientId ?? networkOf(address ?? '')])
    const rows = this.#rows.get(source) ?? 0
    if (rows >= (clientId === null ? ownRows.network : ownRows.endUser)) {
      return JSON.stringify([source, event.kind, event.call, event.code])
    }
    if (rows > 0 || this.#rows.size < sourcesMax) this.#rows.set(source, rows + 1)
    return undefined
  }

  find(key: string): Repeated | undefined {
    return this.#gathered.get(key)
  }

  add(key: string, row: NewActivity): void {
    this.#gathered.set(key, { row, unsaved: 0 })
  }

  entries(): IterableIterator<[string, Repeated]> {
    return this.#gathered.entries()
  }

  delete(key: string): void {
    this.#gathered.delete(key)
  }
}

/** What a row that gathers different events of one source has in common. */
export const gatheredDetail = JSON.stringify({ gathered: true })
export const toGathered = (event: ActivityInput): ActivityInput => ({
  ...event,
  subject: null,
  address: event.clientId == null && event.address != null ? networkOf(event.address) : null,
  detail: { gathered: true },
})
