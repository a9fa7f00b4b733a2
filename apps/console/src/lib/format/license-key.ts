/** The first characters of a license key, as shown in lists. */
export function keyPrefix(key: string, length = 16): string {
  return key.length > length ? `${key.slice(0, length)}…` : key
}
