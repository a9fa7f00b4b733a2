interface Named {
  username: string
  licenseKey: string | null
  knownAs?: string | null | undefined
}

/** What an end user is called. One that signs in with its key has no name of its own, and a key is none. */
export const endUserName = ({ username, licenseKey, knownAs }: Named): string =>
  username === licenseKey ? (knownAs ?? 'Unnamed') : username
