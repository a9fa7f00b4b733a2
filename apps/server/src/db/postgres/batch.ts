// ADR 26: statements that take one round trip.
import pg from 'pg'

/** The messages of PostgreSQL's extended protocol that a batch sends. */
interface Wire {
  stream: { cork(): void; uncork(): void }
  /** The text of every statement that the server has prepared, by name. */
  parsedStatements: Record<string, string>
  /** The text of every statement that is sent, until the server confirms it. */
  submittedNamedStatements: Record<string, string>
  parse(statement: { name?: string | undefined; text: string }): void
  bind(portal: { statement?: string | undefined; values: unknown[] }): void
  describe(portal: { type: 'P'; name: string }): void
  execute(portal: object): void
  sync(): void
}

export interface BatchStatement {
  name?: string | undefined
  text: string
  values?: readonly unknown[] | undefined
  /** Returns its rows; otherwise they are discarded. */
  isRead?: boolean | undefined
}

type Row = Record<string, unknown>

export interface BatchResult {
  /** What the statement did, such as `INSERT 0 1`. */
  command: string
  rows: Row[]
}

/**
 * Statements that take one round trip together. They share one synchronization: after an error PostgreSQL executes
 * none of those that follow.
 */
export class Batch implements pg.Submittable {
  readonly statements: readonly BatchStatement[]
  /** The results of the statements that have ended. */
  readonly results: BatchResult[] = []
  readonly done: Promise<readonly BatchResult[]>
  /** The driver sets it, to stop the timer of a `query_timeout` in DATABASE_URL. */
  callback?: () => void
  readonly #values: (readonly unknown[])[]
  #columns: { name: string; parse: (text: string) => unknown }[] = []
  #rows: Row[] = []
  #settle: { resolve(results: readonly BatchResult[]): void; reject(error: unknown): void }

  constructor(statements: readonly BatchStatement[]) {
    this.statements = statements
    this.#values = statements.map(({ values = [] }) => values.map(toWire))
    const { promise, ...settle } = Promise.withResolvers<readonly BatchResult[]>()
    this.done = promise
    this.#settle = settle
  }

  get isReadOnly(): boolean {
    return this.statements[0]?.text === 'begin read only'
  }

  /** The driver notes the running statement under its name when the server has prepared it. */
  get name(): string | undefined {
    return this.statements[this.results.length]?.name
  }

  get text(): string | undefined {
    return this.statements[this.results.length]?.text
  }

  submit(connection: unknown): null {
    const wire = connection as Wire
    wire.stream.cork()
    try {
      for (const [at, { name, text, isRead }] of this.statements.entries()) {
        if (name === undefined || !isKnown(wire, name)) wire.parse({ name, text })
        if (name !== undefined && !isKnown(wire, name)) wire.submittedNamedStatements[name] = text
        wire.bind({ statement: name, values: [...(this.#values[at] ?? [])] })
        if (isRead) wire.describe({ type: 'P', name: '' })
        wire.execute({})
      }
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
    return null
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.results.push({ command: text, rows: this.#rows })
    this.#rows = []
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: pg.types.getTypeParser(dataTypeID, 'text'),
    }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (!this.statements[this.results.length]?.isRead) return
    const row: Row = {}
    for (const [at, { name, parse }] of this.#columns.entries()) {
      const text = fields[at] ?? null
      row[name] = text === null ? null : parse(text)
    }
    this.#rows.push(row)
  }

  handleError(error: unknown, connection: unknown): void {
    // The server has skipped what followed the error, also the preparation of statements.
    const { submittedNamedStatements } = connection as Wire
    for (const { name } of this.statements) if (name !== undefined) delete submittedNamedStatements[name]
    this.callback?.()
    this.#settle.reject(error)
  }

  handleReadyForQuery(): void {
    this.callback?.()
    this.#settle.resolve(this.results)
  }
}

const isKnown = (wire: Wire, name: string): boolean =>
  wire.parsedStatements[name] !== undefined || wire.submittedNamedStatements[name] !== undefined

/** Throws before anything is sent; a statement that fails later would still be followed by the COMMIT. */
function toWire(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value)
  if (Array.isArray(value)) return `{${value.map(toElement).join()}}`
  throw new TypeError(`PostgreSQL takes no value of type ${typeof value}`)
}

function toElement(value: unknown): string {
  if (typeof value === 'string') return `"${value.replace(/[\\"]/g, '\\$&')}"`
  return toWire(value) ?? 'null'
}
