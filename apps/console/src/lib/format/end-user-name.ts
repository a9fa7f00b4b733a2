import { keyPrefix } from './license-key.ts'

interface Named {
  username: string
  licenseKey: string | null
  knownAs?: string | null | undefined
}

/** For a question about one end user: others may be called the same. */
export const nameWithKey = (user: Named): string =>
  user.username === user.licenseKey ? `${endUserName(user)} (${keyPrefix(user.username)})` : user.username

/** What an end user is called. One that signs in with its key has no name of its own, and a key is none. */
export const endUserName = ({ username, licenseKey, knownAs }: Named): string =>
  username === licenseKey ? (knownAs ?? 'Unnamed') : username
