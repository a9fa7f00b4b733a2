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
  /** Null for licenses that were made by hand. */
  order: string | null
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
/** Each placeholder, with the space before it. */
export const known = /( ?)\{(key|app|name|order|page)\}/g
const isKnown = new Set<string>(mailPlaceholders.map((name) => `{${name}}`))
/** The placeholders in a text that do not exist. */
export const unknownPlaceholders = (text: string): string[] => [
  ...new Set([...text.matchAll(inBraces)].map(([found]) => found).filter((found) => !isKnown.has(found))),
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
    text: fill(withoutUnset(template.text, values), plain, keepText),
    html: template.html === null ? null : fill(withoutUnset(template.html, values), plain, toHtml),
  }
}

type Filled = Record<MailPlaceholder, string>

const toPlain = ({ keys, app, name, order, page }: MailValues): Filled => ({
  key: keys.map(toPlainText).join('\n'),
  app: toPlainText(app),
  name: name === null ? '' : (toPersonName(name) ?? ''),
  order: toPlainText(order ?? ''),
  page: page ?? '',
})

/** An empty value takes the space before it along: “Hello {name},” becomes “Hello,”. */
const fill = (template: string, values: Filled, convert: (text: string) => string): string =>
  template.replace(known, (_, space: string, name: MailPlaceholder) => {
    const value = convert(values[name])
    return value === '' ? '' : `${space}${value}`
  })

/** Without a page or an order, a line about it is left out, unless the line has the key as well. */
function withoutUnset(template: string, { page, order }: MailValues): string {
  const unset = [...(page === null ? ['{page}'] : []), ...(order === null ? ['{order}'] : [])]
  if (unset.length === 0) return template
  return template
    .split('\n')
    .filter((line) => line.includes('{key}') || !unset.some((name) => line.includes(name)))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
}

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
export const unprintable =
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
