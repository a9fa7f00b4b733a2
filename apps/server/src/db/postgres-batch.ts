import type pg from 'pg'

/** The messages of PostgreSQL's extended protocol that a batch sends. */
interface Wire {
  stream: { cork(): void; uncork(): void }
  /** The text of every statement that the server has prepared, by name. */
  parsedStatements: Record<string, string>
  /** The same for those that are sent, until the server confirms them. */
  submittedNamedStatements: Record<string, string>
  parse(statement: { name?: string | undefined; text: string }): void
  bind(portal: { statement?: string | undefined; values: unknown[] }): void
  execute(portal: object): void
  sync(): void
}

export interface BatchStatement {
  name?: string | undefined
  text: string
  values?: readonly unknown[] | undefined
}

/**
 * Statements that take one round trip together. They share one synchronization: after an error PostgreSQL executes
 * none of those that follow. Rows are discarded.
 */
export class Batch implements pg.Submittable {
  readonly statements: readonly BatchStatement[]
  /** What the statements did, such as `INSERT 0 1`. */
  readonly commands: string[] = []
  readonly done: Promise<readonly string[]>
  readonly #values: (readonly unknown[])[]
  #settle: { resolve(commands: readonly string[]): void; reject(error: unknown): void }

  constructor(statements: readonly BatchStatement[]) {
    this.statements = statements
    this.#values = statements.map(({ values = [] }) => values.map(toWire))
    const { promise, ...settle } = Promise.withResolvers<readonly string[]>()
    this.done = promise
    this.#settle = settle
  }

  /** The driver notes the running statement under its name when the server has prepared it. */
  get name(): string | undefined {
    return this.statements[this.commands.length]?.name
  }

  get text(): string | undefined {
    return this.statements[this.commands.length]?.text
  }

  submit(connection: unknown): null {
    const wire = connection as Wire
    wire.stream.cork()
    try {
      for (const [at, { name, text }] of this.statements.entries()) {
        if (name === undefined || !isKnown(wire, name)) wire.parse({ name, text })
        if (name !== undefined && !isKnown(wire, name)) wire.submittedNamedStatements[name] = text
        wire.bind({ statement: name, values: [...(this.#values[at] ?? [])] })
        wire.execute({})
      }
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
    return null
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.commands.push(text)
  }

  handleEmptyQuery(): void {
    this.commands.push('')
  }

  handleRowDescription(): void {}

  handleDataRow(): void {}

  handleError(error: unknown, connection: unknown): void {
    // The server has skipped what followed the error, also the preparation of statements.
    const { submittedNamedStatements } = connection as Wire
    for (const { name } of this.statements) if (name !== undefined) delete submittedNamedStatements[name]
    this.#settle.reject(error)
  }

  handleReadyForQuery(): void {
    this.#settle.resolve(this.commands)
  }
}

const isKnown = (wire: Wire, name: string): boolean =>
  wire.parsedStatements[name] !== undefined || wire.submittedNamedStatements[name] !== undefined

/** Throws before anything is sent; a statement that fails later would still be followed by the COMMIT. */
function toWire(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value)
  throw new TypeError(`PostgreSQL takes no value of type ${typeof value}`)
}
