// ADR 5: lists are shared by the time that they take.
interface Times {
  /** A moving average over all accounts. */
  averageMs: number
  /** The longest time of each account; quicker queries lower it slowly. */
  readonly ofAccounts: Map<string, number>
}

const textsKept = 500
const accountsKept = 2_000
/** The weight of the newest query in what is remembered. */
const share = 0.1

/** Remembers how long queries took, because the same text of the same account will take as long again. */
export class QueryTimes {
  readonly #texts = new Map<string, Times>()

  expect(text: string, account: string): number {
    const times = this.#texts.get(text)
    return times ? (times.ofAccounts.get(account) ?? times.averageMs) : 0
  }

  note(text: string, account: string, ms: number): void {
    const times = this.#texts.get(text) ?? { averageMs: ms, ofAccounts: new Map() }
    const { averageMs, ofAccounts } = times
    const longest = ofAccounts.get(account) ?? ms
    times.averageMs = averageMs + share * (ms - averageMs)
    put(ofAccounts, account, Math.max(ms, longest + share * (ms - longest)), accountsKept)
    put(this.#texts, text, times, textsKept)
  }
}

/** Drops the entry that was not used for longest. */
function put<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return
  const [oldest = ''] = map.keys()
  map.delete(oldest)
}
