// One rule for every door. This file has no schemas, so that the server compares addresses by what the schema accepts.

const ascii = /^[\x20-\x7e]*$/
const local = /^(?!\.)(?!.*\.\.)[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~.-]+(?<!\.)$/u
/** A host's name with at least two parts, of which the last one begins with a letter: no network address. */
const domain =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+\p{L}[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}]$/u
const asciiDomain = /^(?=.{1,253}$)(?:[a-z\d-]{1,63}\.)+[a-z\d-]{2,63}$/

/** The form in which domains are compared: `MÜNCHEN.de` is `xn--mnchen-3ya.de`. Undefined for what is no domain. */
export function toAsciiDomain(name: string): string | undefined {
  if (ascii.test(name)) return name.toLowerCase()
  // Other characters would end the name in an address of the web.
  if (!domain.test(name)) return undefined
  try {
    return new URL(`http://${name}`).hostname
  } catch {
    return undefined
  }
}

/** An address with an international domain in lower case, because databases compare case beyond ASCII differently. */
export function withPlainDomain(address: string): string {
  const at = address.lastIndexOf('@') + 1
  return ascii.test(address.slice(at)) ? address : address.slice(0, at) + address.slice(at).toLowerCase()
}

export function isEmailAddress(address: string): boolean {
  const at = address.lastIndexOf('@')
  if (at < 1 || !local.test(address.slice(0, at)) || !domain.test(address.slice(at + 1))) return false
  return asciiDomain.test(toAsciiDomain(address.slice(at + 1)) ?? '')
}
