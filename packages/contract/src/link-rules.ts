// This file has no schemas: pages of the console check links without them.

/** Characters that hide a part of a link or reverse its order on a screen. */
const misleading = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\\]/u
const domain = /^(?=.{1,253}$)([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i
const placeholder = '{reference}'

export const linkMax = 500
export const noWebAddress = 'Please enter a web address that starts with https://'
export const longLink = `A link can have at most ${linkMax} characters`

/** What is wrong with the address of a page that people open; undefined for nothing. */
export function linkIssue(typed: string): string | undefined {
  const link = typed.trim()
  const url = URL.parse(link)
  if (!url || !/^https:\/\//i.test(link) || !domain.test(url.hostname)) return noWebAddress
  if (link.length > linkMax) return longLink
  if (url.username !== '' || url.password !== '') return 'A link must have no username or password'
  return misleading.test(link) ? 'A link must have no spaces or invisible characters' : undefined
}

/** The same for a page of a shop. */
export const shopLinkIssue = (link: string): string | undefined =>
  linkIssue(link) ??
  (link.split(placeholder).length > 2 ? `A link can contain ${placeholder} once` : undefined)

/** The link as a customer gets it: with the reference of the license, or of nobody (null). */
export function fillLink(link: string, reference: string | null): string {
  if (link.includes(placeholder)) return link.replace(placeholder, reference ?? '')
  return reference === null ? link : withParameter(link, `reference=${reference}`)
}

/** The link with a further part of its query. */
export function withParameter(link: string, parameter: string): string {
  const [address = '', ...fragment] = link.split('#')
  const joint = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&'
  return [address + joint + parameter, ...fragment].join('#')
}
