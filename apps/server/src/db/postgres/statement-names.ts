const usesFirst = 5
const namesMax = 200
const textsCounted = 1000
const lettersMax = 2000

/** The best plan depends on the values, so PostgreSQL must plan each execution. */
const plansVary = /\b(like|order by|limit|offset|group by|count|sum|with)\b/i
/** A prepared `select *` fails after another node has added a column. */
const columnsVary = /\*/

/**
 * Names frequent statements, so that PostgreSQL parses and plans them once per connection (ADR 35). The number of names
 * is bounded, because texts vary: a list of 100 ids differs from one of 99.
 */
export class StatementNames {
  readonly #names = new Map<string, string>()
  readonly #uses = new Map<string, number>()

  of(text: string): string | undefined {
    const name = this.#names.get(text)
    if (name !== undefined) return name
    if (this.#names.size >= namesMax || isUnfit(text)) return undefined
    const uses = (this.#uses.get(text) ?? 0) + 1
    if (uses > usesFirst) return this.#add(text)
    if (this.#uses.size >= textsCounted) this.#uses.clear()
    this.#uses.set(text, uses)
    return undefined
  }

  #add(text: string): string {
    this.#uses.delete(text)
    const name = `k${this.#names.size + 1}`
    this.#names.set(text, name)
    return name
  }
}

const isUnfit = (text: string): boolean =>
  text.length > lettersMax || plansVary.test(text) || columnsVary.test(text)
