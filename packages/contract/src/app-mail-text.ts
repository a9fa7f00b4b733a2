// This file has no schemas: the console's preview and the server render mails by the same rules.

/** What a vendor can write in braces into the mail to its buyers. */
export const mailPlaceholders = ['key', 'app', 'name', 'order', 'page'] as const
export type MailPlaceholder = (typeof mailPlaceholders)[number]

/** What stands for the placeholders in one mail. */
export interface MailValues {
  keys: readonly string[]
  app: string
  /** The buyer's name; null if it is unknown, or is no name. */
  name: string | null
  order: string
  /** The address of the customer's page; null while the app has none. */
  page: string | null
}

export interface MailTemplate {
  subject: string
  text: string
  html: string | null
}

/** A word in braces, however many and with whatever spaces: CSS in braces has other signs. */
const inBraces = /\{+\s*[\p{L}_][\p{L}\p{N}_-]*\s*\}+/gu
const known = /( ?)\{(key|app|name|order|page)\}/g
const isKnown = new Set<string>(mailPlaceholders.map((name) => `{${name}}`))
/** A tag or comment, or one that never ends; `>` between quotes does not end it. */
const tags = /<[a-z/!?](?:"[^"]*"|'[^']*'|[^"'>])*/gi

/** The placeholders in a text that do not exist. */
export const unknownPlaceholders = (text: string): string[] => [
  ...new Set([...text.matchAll(inBraces)].map(([found]) => found).filter((found) => !isKnown.has(found))),
]

/** A link with its attributes and its content; a quote or the end ends what is not closed, so that no text is searched twice. */
const anchors = /<a\b((?:"[^"]*"|'[^']*'|[^"'>])*)(?:>|["']|$)([\s\S]*?)(?=<\/a\s*>|<a\b|$)/gi
const target = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
/** What a reader takes for an address of a page or a mailbox. */
const addressLike =
  /(?:[a-z][a-z0-9+.-]*:\/\/|www\.|@)?[\p{L}\p{N}-]{1,63}(?:[.。][\p{L}\p{N}-]{1,63}){0,9}[.。]\p{L}{2,63}/iu

/** The text of the first link that reads like an address and leads to another one; undefined if there is none. */
export function deceivingLink(html: string): string | undefined {
  for (const [, attributes = '', content = ''] of html.matchAll(anchors)) {
    const found = target.exec(attributes)
    const href = decodeEntities(found?.[1] ?? found?.[2] ?? found?.[3] ?? '')
    const shown = decodeEntities(content.replace(tags, '').replace(/[<>]/g, ' ')).normalize('NFKC').trim()
    const address = addressLike.exec(shown.replace(unprintable, ''))?.[0]
    if (address !== undefined && !`.${hostOf(href)}`.endsWith(`.${hostOf(address)}`))
      return toPlainText(shown)
  }
  return undefined
}

/** The host of what looks like an address, without what all hosts may have. */
const hostOf = (address: string): string =>
  address
    .normalize('NFKC')
    .replace(/^\s*(?:mailto:)?(?:[a-z][a-z0-9+.-]*:)?\/{0,2}/i, '')
    .replace(/[/?#].*$/s, '')
    .replace(/^.*@/s, '')
    .replace(/:\d*$/, '')
    .replace(/^www\./i, '')
    .replaceAll('。', '.')
    .toLowerCase()

const named: Record<string, string> = {
  amp: '&',
  period: '.',
  commat: '@',
  sol: '/',
  colon: ':',
  nbsp: ' ',
  shy: '',
}
const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));?/gi, (whole, hex, digits, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole
    const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

/** The placeholders inside of tags that could change what the tag does. */
export const placeholdersInTags = (html: string): string[] => [
  ...new Set(
    [...html.matchAll(tags)]
      .flatMap(([tag]) => [...tag.matchAll(known)].map(([found]) => found.trim()))
      .filter((found) => found !== '{page}'),
  ),
]

export interface RenderedMail {
  subject: string
  text: string
  html: string | null
}

const subjectMax = 300

/** Fills in a mail. Each placeholder is replaced once: a value that looks like one stays as it is. */
export function renderMail(template: MailTemplate, values: MailValues): RenderedMail {
  const plain = toPlain(values)
  const subject = fill(template.subject, { ...plain, key: '', page: '' }, keepText)
  return {
    subject: Array.from(subject.replace(/\s+/g, ' ').trim()).slice(0, subjectMax).join(''),
    text: fill(withoutPage(template.text, values), plain, keepText),
    html: template.html === null ? null : fill(withoutPage(template.html, values), plain, toHtml),
  }
}

type Filled = Record<MailPlaceholder, string>

const toPlain = ({ keys, app, name, order, page }: MailValues): Filled => ({
  key: keys.map(toPlainText).join('\n'),
  app: toPlainText(app),
  name: name === null ? '' : (toPersonName(name) ?? ''),
  order: toPlainText(order),
  page: page ?? '',
})

/** An empty value takes the space before it along: “Hello {name},” becomes “Hello,”. */
const fill = (template: string, values: Filled, convert: (text: string) => string): string =>
  template.replace(known, (_, space: string, name: MailPlaceholder) => {
    const value = convert(values[name])
    return value === '' ? '' : `${space}${value}`
  })

/** Without a page, a line about it is left out, unless the line has the key as well. */
const withoutPage = (template: string, { page }: MailValues): string =>
  page === null
    ? template
        .split('\n')
        .filter((line) => !line.includes('{page}') || line.includes('{key}'))
        .join('\n')
        .replace(/\n{3,}/g, '\n\n')
    : template

const keepText = (text: string): string => text

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\n': '<br>',
}
const toHtml = (text: string): string => text.replace(/[&<>"'\n]/g, (sign) => entities[sign] ?? sign)

/** Control characters, line breaks of any kind, invisible characters, and those that turn the direction of text around. */
const unprintable =
  /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u200b\u2060\ufeff\u{e0000}-\u{e007f}]+/gu
const valueMax = 200

/** One line without characters that cannot be seen. */
export const toPlainText = (value: string): string =>
  Array.from(value.replace(unprintable, ' ').replace(/\s+/g, ' ').trim()).slice(0, valueMax).join('')

const personNameMax = 60
/** What mail programs turn into a link or a telephone number, in any width of letters. */
const linkLike = /[:/\\@<>[\]{}|]|www|[\p{L}\p{N}][.。][\p{L}\p{N}]{2,}|\d[\d\s().-]{3,}\d/iu

/**
 * A buyer's name as a mail repeats it; undefined for what is no name. A buyer can type another's address and a message with
 * a link as the name, which the vendor's mail would then deliver.
 */
export function toPersonName(name: string): string | undefined {
  const plain = toPlainText(name)
  const isName =
    plain !== '' && Array.from(plain).length <= personNameMax && !linkLike.test(plain.normalize('NFKC'))
  return isName ? plain : undefined
}
