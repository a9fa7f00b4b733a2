import { keyPrefix } from './license-key.ts'

interface Named {
  username: string
  licenseKey: string | null
  knownAs?: string | null | undefined
}

const keyShape = /^(.+-)?([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/i

/** Whether a text is a license key, of the shape that the server makes. */
export const isKey = (text: string): boolean => keyShape.test(text)

/** Whether an end user has no name but its key, also after its license was deleted. */
export const isNamedByKey = ({ username, licenseKey }: Named): boolean =>
  licenseKey === null ? isKey(username) : username === licenseKey

/** What an end user is called, since a key is no name; null if nothing is known. */
export const knownName = (user: Named): string | null =>
  isNamedByKey(user) ? (user.knownAs ?? null) : user.username

export const endUserName = (user: Named): string => knownName(user) ?? 'Unnamed'

/** For a question about one end user: others may be called the same. */
export const nameWithKey = (user: Named): string =>
  isNamedByKey(user) ? `${endUserName(user)} (${keyPrefix(user.username)})` : user.username
