import { keyPrefix } from './license-key.ts'

interface Named {
  username: string
  licenseKey: string | null
  knownAs?: string | null | undefined
}

/** A license key of the shape that the server makes. */
const keyShape = /^(.+-)?([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/i

/** A text as it is, or the beginning of a license key. */
export const shortIfKey = (text: string): string => (keyShape.test(text) ? keyPrefix(text) : text)

/** Whether an end user has no name but its key, also after its license was deleted. */
export const isNamedByKey = ({ username, licenseKey }: Named): boolean =>
  licenseKey === null ? keyShape.test(username) : username === licenseKey

/** What an end user is called, since a key is no name; null if nothing is known. */
export const knownName = (user: Named): string | null =>
  isNamedByKey(user) ? (user.knownAs ?? null) : user.username

export const endUserName = (user: Named): string => knownName(user) ?? 'Unnamed'

/** For a question about one end user: others may be called the same. */
export const nameWithKey = (user: Named): string =>
  isNamedByKey(user) ? `${endUserName(user)} (${keyPrefix(user.username)})` : user.username
