interface Named {
  username: string
  licenseKey: string | null
  knownAs?: string | null | undefined
}

/** What an end user is called. One that signs in with its key has no name of its own, and a key is none. */
export const endUserName = ({ username, licenseKey, knownAs }: Named): string =>
  username === licenseKey ? (knownAs ?? 'Unnamed') : username

/** The end user that a sentence begins with. */
export const inSentence = (user: Named | undefined): string =>
  user && user.username !== user.licenseKey ? user.username : 'The end user'

/** What the end user of a license is called. */
export const userName = ({
  username,
  name = username,
}: {
  username: string
  name?: string | null | undefined
}) => name ?? 'Unnamed'
