// This file has no schemas: the console's preview and the server render mails by the same rules.

/** The mails of an app: the keys of an order, and what its customers are told later. */
export const mailKinds = [
  'purchase',
  'renewed',
  'endsSoon',
  'ended',
  'paymentFailed',
  'updatesEndSoon',
  'security',
] as const
export type MailKind = (typeof mailKinds)[number]

const further = ['type', 'end', 'renew', 'version', 'summary', 'link'] as const
const allPlaceholders = ['key', 'app', 'name', 'order', 'page', ...further] as const
export type MailPlaceholder = (typeof allPlaceholders)[number]

/** What a vendor can write in braces into a mail. */
export const placeholdersOf = (kind: MailKind): readonly MailPlaceholder[] =>
  allPlaceholders.filter((name) =>
    kind === 'purchase' ? !(further as readonly string[]).includes(name) : name !== 'key',
  )

/** Placeholders for an address of the server or the vendor, which may stand in a tag, and never in a subject. */
export const linkPlaceholders = ['page', 'renew', 'link'] as const

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
  /** The name of the license's type. */
  type?: string | null
  /** A day, in words. */
  end?: string | null
  /** Where the license is renewed; null without a link. */
  renew?: string | null
  /** The version of a release. */
  version?: string | null
  summary?: string | null
  link?: string | null
}

export interface MailTemplate {
  subject: string
  text: string
  html: string | null
}

/** A word in braces, however many and with whatever spaces: CSS in braces has other signs. */
const inBraces = /\{+\s*[\p{L}_][\p{L}\p{N}_-]*\s*\}+/gu
/** Each placeholder, with the space before it. */
export const known = new RegExp(`( ?)\\{(${allPlaceholders.join('|')})\\}`, 'g')
/** The placeholders in a text that a kind of mail does not have. */
export function unknownPlaceholders(text: string, kind: MailKind): string[] {
  const names = new Set(placeholdersOf(kind).map((name) => `{${name}}`))
  return [...new Set([...text.matchAll(inBraces)].map(([found]) => found))].filter((one) => !names.has(one))
}

export interface RenderedMail {
  subject: string
  text: string
  html: string | null
}

const subjectMax = 300

/** Fills in a mail. Each placeholder is replaced once: a value that looks like one stays as it is. */
export function renderMail(template: MailTemplate, values: MailValues): RenderedMail {
  const plain = toPlain(values)
  const subject = fill(template.subject, { ...plain, key: '', page: '', renew: '', link: '' }, keepText)
  return {
    subject: Array.from(subject.replace(/\s+/g, ' ').trim()).slice(0, subjectMax).join(''),
    text: fill(withoutEmpty(template.text, values), plain, keepText),
    html: template.html === null ? null : fill(withoutEmpty(template.html, values), plain, toHtml),
  }
}

type Filled = Record<MailPlaceholder, string>

const toPlain = ({ keys, app, name, order, page, renew, link, ...others }: MailValues): Filled => ({
  key: keys.map((key) => toPlainText(key)).join('\n'),
  app: toPlainText(app),
  name: name === null ? '' : (toPersonName(name) ?? ''),
  order: toPlainText(order ?? ''),
  ...{ page: page ?? '', renew: renew ?? '', link: link ?? '' },
  type: toPlainText(others.type ?? ''),
  end: toPlainText(others.end ?? ''),
  version: toPlainText(others.version ?? ''),
  summary: toPlainText(others.summary ?? '', summaryMax),
})

const summaryMax = 500

/** An empty value takes the space before it along: “Hello {name},” becomes “Hello,”. */
const fill = (template: string, values: Filled, convert: (text: string) => string): string =>
  template.replace(known, (_, space: string, name: MailPlaceholder) => {
    const value = convert(values[name])
    return value === '' ? '' : `${space}${value}`
  })

/** A line about what a mail does not have is left out, unless the line has the key as well. */
function withoutEmpty(template: string, values: MailValues): string {
  const isUnset = (name: (typeof further)[number] | 'page') => !values[name]
  const unset = [
    ...(['page', ...further] as const).filter(isUnset),
    ...(values.order === null ? ['order'] : []),
  ].map((name) => `{${name}}`)
  const isLeftOut = (line: string) => unset.some((one) => line.includes(one)) && !line.includes('{key}')
  const lines = template.split('\n')
  return lines.some(isLeftOut)
    ? lines
        .filter((line) => !isLeftOut(line))
        .join('\n')
        .replace(/\n{3,}/g, '\n\n')
    : template
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
export const toPlainText = (value: string, max = valueMax): string =>
  Array.from(value.replace(unprintable, ' ').replace(/\s+/g, ' ').trim()).slice(0, max).join('')

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
