import { z } from 'zod'

/** Characters that hide a part of a link or reverse its order on a screen. */
const misleading = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\\]/u

const hasNoCredentials = (link: string): boolean => {
  const url = URL.parse(link)
  return url?.username === '' && url.password === ''
}

const address = 'Please enter a web address that starts with https://'

/** The address of a page that people open. */
export const webLink = z
  .url({ protocol: z.regexes.httpProtocol, hostname: z.regexes.domain, error: address, abort: true })
  .max(500, 'A link can have at most 500 characters')
  .refine((link) => /^https:/i.test(link), { error: address, abort: true })
  .refine(hasNoCredentials, { error: 'A link must have no username or password', abort: true })
  .refine((link) => !misleading.test(link), 'A link must have no spaces or invisible characters')
