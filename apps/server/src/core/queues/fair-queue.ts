import { type Caller, groupsOf, networksOf } from '../networks/caller.ts'
import type { Problem } from '../problem.ts'

export interface FairQueueOptions {
  /** What runs at once, in the unit of `weight`. */
  running: number
  /** Callers that wait at most; one more displaces the newest of the largest group. */
  waiting: number
  /** Limits of one account across all networks. */
  perAccount?: { running: number; waiting: number }
  /** What callers of one network may run at once, so that others find room. */
  perNetwork?: number
  /** Starts per turn of the event loop. */
  startsPerTurn?: number
  /** How many turns that are known to be slow run at once: others find a free place. */
  slow?: number
  /** Longest time in the queue. */
  waitMs?: number | undefined
  rejection: () => Problem
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

interface TurnOptions {
  weight?: number
  /** Whether the turn will be slow; asked before each start, because other turns may show it meanwhile. */
  isSlow?: () => boolean
}

/** Ends a turn and charges what it cost; further calls do nothing. */
export type EndTurn = (cost?: number) => void

/** How long until half of a cost is forgotten. */
const halfLifeMs = 5_000
/** Groups whose recent costs are kept; beyond them idle ones are forgotten. */
const groupsKept = 5_000

/** A group of callers, or at the end of a path one account at one address. */
class Group {
  readonly parent: Group | undefined
  readonly groups = new Map<string, Group>()
  /** Groups in which a caller waits. */
  readonly ready = new Set<Group>()
  readonly entries: Entry[] = []
  waiting = 0
  running = 0
  #cost = 0
  #costAt = 0

  constructor(parent?: Group) {
    this.parent = parent
  }

  costAt(now: number): number {
    return this.#cost * 2 ** ((this.#costAt - now) / halfLifeMs)
  }

  charge(cost: number, now: number): void {
    this.#cost = Math.max(0, this.costAt(now) + cost)
    this.#costAt = now
  }

  /** This group and those that contain it, without the root. */
  *path(): Generator<Group> {
    for (let group: Group = this; group.parent; group = group.parent) yield group
  }
}

interface Entry {
  group: Group
  account: string
  weight: number
  isSlow(): boolean
  begin(): void
  refuse(): void
}

/**
 * Shares something scarce between callers: between networks first, then between smaller networks within them, then
 * between accounts. The group with the lowest recent cost is next; a full queue displaces the group that waits most.
 */
export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #now: () => number
  readonly #root = new Group()
  readonly #accounts = new Map<string, { running: number; waiting: number }>()
  #groups = 0
  #slowRunning = 0
  #starts = 0

  constructor(options: FairQueueOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Whether a caller would have to wait. */
  get isBusy(): boolean {
    return this.#root.running >= this.#options.running || this.#root.waiting > 0
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#root.waiting
  }

  get isAwaited(): boolean {
    return this.#root.waiting > 0
  }

  /**
   * Whether a stranger from this address has a place that is not taken from its own network, whose calls would otherwise be
   * read in vain. Others of unrelated networks are read, because only their account shows whether they are known.
   */
  hasPlaceFor(caller: Omit<Caller, 'account'>): boolean {
    if (this.#root.waiting < this.#options.waiting) return true
    let group = this.#root
    for (const [level, key] of networksOf(caller).entries()) {
      const own = group.groups.get(key)
      const most = Math.max(...[...group.ready].map(({ waiting }) => waiting))
      if (most > (own?.waiting ?? 0) + 1) return true
      // The first two levels are the strangers and the widest network.
      if (!own || own.waiting === 0) return level < 2
      group = own
    }
    return false
  }

  /** Resolves when the caller may begin; rejects when it is displaced or waits too long. */
  enter(caller: Caller, { weight = 1, isSlow = () => false }: TurnOptions = {}): Promise<EndTurn> {
    const { perAccount, waiting, waitMs, rejection } = this.#options
    const counted = this.#accounts.get(caller.account) ?? { running: 0, waiting: 0 }
    const { running: accountRunning, waiting: accountWaiting } = counted
    if (perAccount && accountRunning + accountWaiting >= perAccount.running + perAccount.waiting)
      return Promise.reject(rejection())
    this.#accounts.set(caller.account, counted)
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#remove(entry)
        entry.refuse()
      }
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs)
      const entry: Entry = {
        group: this.#groupOf(caller),
        account: caller.account,
        weight: Math.min(weight, this.#options.running),
        isSlow,
        begin: () => {
          clearTimeout(timer)
          resolve(this.#start(entry))
        },
        refuse: () => {
          clearTimeout(timer)
          reject(rejection())
        },
      }
      this.#add(entry)
      this.#startMore()
      if (this.#root.waiting > waiting) this.#displaceOne()
    })
  }

  #groupOf(caller: Caller): Group {
    if (this.#groups > groupsKept) this.#forgetIdle(this.#root)
    let group = this.#root
    for (const key of groupsOf(caller)) {
      let inner = group.groups.get(key)
      if (!inner) {
        inner = new Group(group)
        group.groups.set(key, inner)
        this.#groups += 1
      }
      group = inner
    }
    return group
  }

  #forgetIdle(group: Group): void {
    for (const [key, inner] of group.groups) {
      this.#forgetIdle(inner)
      if (inner.groups.size > 0 || inner.waiting > 0 || inner.running > 0) continue
      group.groups.delete(key)
      this.#groups -= 1
    }
  }

  #add(entry: Entry): void {
    entry.group.entries.push(entry)
    this.#countOf(entry.account).waiting += 1
    this.#root.waiting += 1
    for (const group of entry.group.path()) {
      group.waiting += 1
      group.parent?.ready.add(group)
    }
  }

  #remove(entry: Entry): void {
    entry.group.entries.splice(entry.group.entries.indexOf(entry), 1)
    this.#countOf(entry.account).waiting -= 1
    this.#forgetAccount(entry.account)
    this.#root.waiting -= 1
    for (const group of entry.group.path()) {
      group.waiting -= 1
      if (group.waiting === 0) group.parent?.ready.delete(group)
    }
  }

  #start({ group: leaf, account, weight, isSlow }: Entry): EndTurn {
    const estimate = weight
    const slow = isSlow() ? 1 : 0
    const change = (by: 1 | -1, cost: number) => {
      const now = this.#now()
      this.#root.running += by * weight
      this.#slowRunning += by * slow
      this.#countOf(account).running += by
      for (const group of leaf.path()) {
        group.running += by * weight
        group.charge(cost, now)
      }
    }
    change(1, estimate)
    let hasEnded = false
    return (cost = estimate) => {
      if (hasEnded) return
      hasEnded = true
      change(-1, cost - estimate)
      this.#forgetAccount(account)
      this.#startMore()
    }
  }

  #startMore(): void {
    const { startsPerTurn = Number.POSITIVE_INFINITY } = this.#options
    while (this.#starts < startsPerTurn) {
      const entry = this.#next(this.#root)
      if (!entry || entry === 'full') return
      if (startsPerTurn !== Number.POSITIVE_INFINITY) this.#countStart()
      this.#remove(entry)
      entry.begin()
    }
  }

  #countStart(): void {
    this.#starts += 1
    if (this.#starts > 1) return
    setImmediate(() => {
      this.#starts = 0
      this.#startMore()
    })
  }

  /** The caller to start; 'full' if the one that is next needs more room: lighter ones would keep it out for ever. */
  #next(group: Group): Entry | 'full' | undefined {
    const [first] = group.entries
    if (first && this.#isAllowed(first)) return this.#hasRoom(first) ? first : 'full'
    const now = this.#now()
    const byCost = [...group.ready].sort((one, other) => one.costAt(now) - other.costAt(now))
    for (const inner of byCost) {
      const entry = this.#next(inner)
      if (entry) return entry
    }
    return undefined
  }

  #hasRoom({ weight }: Entry): boolean {
    return this.#root.running + weight <= this.#options.running
  }

  /** Whether its account, its networks and the place for turns that are not slow let it begin. */
  #isAllowed({ group: leaf, account, weight, isSlow }: Entry): boolean {
    const { perAccount, perNetwork, slow } = this.#options
    if (perAccount && this.#countOf(account).running >= perAccount.running) return false
    if (slow !== undefined && this.#slowRunning >= slow && isSlow()) return false
    if (perNetwork === undefined) return true
    for (const group of leaf.path()) {
      // The limit does not apply to the outermost groups, which are all known and all unknown callers.
      if (group.parent !== this.#root && group.running > 0 && group.running + weight > perNetwork)
        return false
    }
    return true
  }

  #displaceOne(): void {
    const now = this.#now()
    const isLarger = (one: Group, other: Group) =>
      one.waiting - other.waiting || one.costAt(now) - other.costAt(now)
    let group = this.#root
    while (group.ready.size > 0)
      group = [...group.ready].reduce((most, one) => (isLarger(one, most) >= 0 ? one : most))
    const newest = group.entries.at(-1)
    if (!newest) return
    this.#remove(newest)
    newest.refuse()
  }

  #countOf(account: string): { running: number; waiting: number } {
    const counted = this.#accounts.get(account) ?? { running: 0, waiting: 0 }
    this.#accounts.set(account, counted)
    return counted
  }

  #forgetAccount(account: string): void {
    const { running, waiting } = this.#countOf(account)
    if (running + waiting === 0) this.#accounts.delete(account)
  }
}
