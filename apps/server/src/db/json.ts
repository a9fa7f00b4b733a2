/** JSON of PostgreSQL holds no half of a surrogate pair; as a parameter of its own it becomes U+FFFD, too. */
export const toJson = (rows: readonly object[]): string =>
  JSON.stringify(rows, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value))
