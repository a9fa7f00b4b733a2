/** The license types of each app. */
export const types = {
  basic: { term: 'date', duration: { value: 30, unit: 'days' }, features: ['base'] },
  pro: {
    ...{ term: 'first_use', duration: { value: 1, unit: 'months' }, graceDays: 7, devices: 3 },
    ...{ features: ['base', 'export'], updatesForDays: 60 },
  },
  team: {
    ...{ term: 'first_use', duration: { value: 10, unit: 'days' }, graceDays: 2 },
    ...{ seats: 2, features: ['team'] },
  },
  life: { term: 'forever', devices: 2, features: ['life'], updatesForDays: 90 },
  hours: { term: 'first_use', duration: { value: 36, unit: 'hours' }, trial: true, features: ['trial'] },
}
export type TypeName = keyof typeof types
export const typeNames = Object.keys(types) as TypeName[]

/** The steps that are events of a shop, with the types of these events. */
export const told = {
  paid: 'order.paid',
  renewed: 'subscription.renewed',
  changed: 'subscription.changed',
  failed: 'subscription.payment_failed',
  ended: 'subscription.ended',
  refunded: 'order.refunded',
  refundedMiddle: 'order.refunded',
  refundedPart: 'order.refunded',
  disputed: 'order.disputed',
  won: 'order.dispute_won',
}

/** What a step is about, with names in place of ids. Times are in days from the step; null is never. */
export interface Parts {
  licenses?: string[]
  users?: string[]
  order?: string
  type?: TypeName
  end?: number | null
  hours?: number
  /** The number of the step that is taken back. */
  of?: number
  /** Further fields of the request. */
  more?: Record<string, unknown>
}

/** Numbers by mulberry32, which needs nothing but 32-bit integers. */
class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1)
  }

  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }

  chance = (percent: number): boolean => this.below(100) < percent
  pick = <T>(all: readonly T[]): T => all[this.below(all.length)] as T
  find = <T>(all: readonly T[]): T | undefined => (all.length === 0 ? undefined : this.pick(all))
}

export interface License {
  name: string
  type?: TypeName
  user?: string | undefined
  isDeleted?: boolean
}
interface User {
  name: string
  isDeleted?: boolean
}
export interface Order {
  name: string
  payments: string[]
}

/** What the steps so far should have led to. The server may have refused some: then later ones name what is missing. */
export class History extends Draw {
  readonly steps: (Parts & { kind: string })[] = []
  readonly licenses: License[] = []
  readonly users: User[] = []
  readonly orders: Order[] = []

  addLicense(name = `L${this.licenses.length + 1}`): string {
    this.licenses.push({ name })
    return name
  }

  addUser(license?: License): string {
    const name = `U${this.users.length + 1}`
    this.users.push({ name })
    if (license) license.user ??= name
    return name
  }

  /** An unused license, rarely another one. */
  unused(): License | undefined {
    const isWanted = ({ user, isDeleted }: License) => user === undefined && !isDeleted
    return this.find(this.licenses.filter((license) => isWanted(license) || this.chance(4)))
  }

  /** Licenses or end users, more often those of the last step alone. */
  left<Row extends License | User>(rows: readonly Row[]): Row[] {
    const all = rows.filter(({ isDeleted }) => !isDeleted)
    const { licenses = [], users = [] } = this.steps.at(-1) ?? {}
    const last = all.filter(({ name }) => licenses.includes(name) || users.includes(name))
    return last.length > 0 && this.chance(50) ? last : all
  }

  /** A license, more often a used one. */
  license(): License | undefined {
    const all = this.left(this.licenses)
    const used = all.filter(({ user }) => user)
    return this.find(used.length > 0 && this.chance(70) ? used : all)
  }

  user = (): User | undefined => this.find(this.left(this.users))

  /** Up to three of the licenses, or of the end users. */
  several(more: () => Parts): Parts | undefined {
    const isOfUsers = this.users.length > 0 && this.chance(45)
    const all: (License | User)[] = [...this.left(isOfUsers ? this.users : this.licenses)]
    while (all.length > 3 || (all.length === 3 && this.chance(30))) all.splice(this.below(all.length), 1)
    const names = all.map(({ name }) => name)
    return names.length === 0 ? undefined : { [isOfUsers ? 'users' : 'licenses']: names, ...more() }
  }

  end = () => this.pick([-20, -2, 1, 3, 5, 10, 12.5, 20, 45, 45, 90, 400, null, null])
  days = () => this.pick([1, 3, 7, 10, 30, 30, 365])
  hwid = () => this.pick(['pc-1', 'pc-1', 'pc-1', 'pc-2', 'pc-3'])

  duration(): { value: number; unit: string } {
    const days = [1, 3, 10].map((value) => ({ value, unit: 'days' }))
    const hours = [5, 36].map((value) => ({ value, unit: 'hours' }))
    const months = [1, 1, 2].map((value) => ({ value, unit: 'months' }))
    return this.pick([...days, ...hours, ...months, { value: 1, unit: 'years' }])
  }

  /** The end of a paid period, which may be earlier than that of the one before. */
  until = () => this.pick([30, 30, 60, 90, 5, 365])
}
