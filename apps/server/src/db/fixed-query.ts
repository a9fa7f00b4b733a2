import type { Compilable, CompiledQuery } from 'kysely'
import { needsLocks } from './open.ts'
import { runQuery } from './own-connections.ts'
import type { Db } from './tables.ts'

/** Takes the place of a value while a query is built. */
class Parameter {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }

  [Symbol.toPrimitive](): never {
    throw new Error(`the text of a fixed query cannot depend on ${this.name}`)
  }
}

/** A query whose text is always the same. */
export class FixedQuery<Values extends object, Row> {
  readonly #build: (db: Db, values: Values) => Compilable<Row>
  #onSqlite: CompiledQuery<Row> | undefined
  #onPostgres: CompiledQuery<Row> | undefined

  constructor(build: (db: Db, values: Values) => Compilable<Row>) {
    this.#build = build
  }

  bind(db: Db, values: Values): CompiledQuery<Row> {
    const query = this.#compiled(db)
    const byName = values as Record<string, unknown>
    const parameters = query.parameters.map((one) => (one instanceof Parameter ? byName[one.name] : one))
    return { ...query, parameters }
  }

  /** Returns the rows. */
  async run(db: Db, values: Values): Promise<Row[]> {
    return runQuery(db, this.bind(db, values))
  }

  async first(db: Db, values: Values): Promise<Row | undefined> {
    return (await this.run(db, values))[0]
  }

  #compiled(db: Db): CompiledQuery<Row> {
    if (needsLocks(db)) {
      this.#onPostgres ??= this.#compile(db)
      return this.#onPostgres
    }
    this.#onSqlite ??= this.#compile(db)
    return this.#onSqlite
  }

  #compile(db: Db): CompiledQuery<Row> {
    const parameters = new Proxy({}, { get: (_, name) => new Parameter(String(name)) })
    return this.#build(db, parameters as Values).compile()
  }
}

/**
 * A query that is built once, and not for each call, which takes several times as long as running it. `build` puts the
 * values into the query and does nothing else with them.
 */
export const fixedQuery = <Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): FixedQuery<Values, Row> => new FixedQuery(build)
