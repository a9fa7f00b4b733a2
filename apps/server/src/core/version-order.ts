/** A text that sorts as the three numbers of a version do; null for a text that is no such version. */
export function versionOrder(version: string): string | null {
  const numbers = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(version)?.slice(1)
  return numbers ? numbers.map((number) => number.padStart(9, '0')).join('.') : null
}
