import { hash } from 'node:crypto'

/**
 * The digest of a table, whatever the order of its rows: the number of rows, and the sum of their hashes. Each database
 * sorts texts in its own way, and sorting a large table would take it more memory than one row at a time.
 */
export class TableDigest {
  rows = 0
  #sum = 0n

  add(values: readonly unknown[]): void {
    this.rows += 1
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${hash('sha256', JSON.stringify(values))}`))
  }

  equals(other: TableDigest): boolean {
    return this.rows === other.rows && this.#sum === other.#sum
  }

  toString(): string {
    return this.#sum.toString(16).padStart(64, '0')
  }
}
