import type { Compilable, CompiledQuery } from 'kysely'
import { type Syntax, syntaxOf } from './engine.ts'
import { run } from './run.ts'
import type { Db } from './tables.ts'

/** Takes the place of a value while a query is built. */
class Parameter {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }

  [Symbol.toPrimitive](): never {
    throw new Error(`the text of a prepared query cannot depend on ${this.name}`)
  }
}

/** A query whose text is always the same. */
class PreparedQuery<Values extends object, Row> {
  readonly #build: (db: Db, values: Values) => Compilable<Row>
  readonly #compiled = new Map<Syntax, CompiledQuery<Row>>()

  constructor(build: (db: Db, values: Values) => Compilable<Row>) {
    this.#build = build
  }

  /** The statement with these values. */
  with(db: Db, values: Values): CompiledQuery<Row> {
    const statement = this.#statementOf(db)
    const all = values as Record<string, unknown>
    const parameters = statement.parameters.map((one) => (one instanceof Parameter ? all[one.name] : one))
    return { ...statement, parameters }
  }

  /** Returns the rows. */
  async run(db: Db, values: Values): Promise<Row[]> {
    return run(db, this.with(db, values))
  }

  async first(db: Db, values: Values): Promise<Row | undefined> {
    return (await this.run(db, values))[0]
  }

  #statementOf(db: Db): CompiledQuery<Row> {
    const syntax = syntaxOf(db)
    const known = this.#compiled.get(syntax)
    if (known) return known
    const parameters = new Proxy({}, { get: (_, name) => new Parameter(String(name)) })
    const compiled = this.#build(db, parameters as Values).compile()
    this.#compiled.set(syntax, compiled)
    return compiled
  }
}

/**
 * A query that is built once, and not for each call, which takes several times as long as running it. `build` puts the
 * values into the query and does nothing else with them.
 */
export const query = <Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): PreparedQuery<Values, Row> => new PreparedQuery(build)
