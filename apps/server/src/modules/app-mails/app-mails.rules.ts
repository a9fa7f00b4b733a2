import {
  type AppMail,
  isSafeHtml,
  lookupTags,
  type MailKind,
  type MailTemplate,
  type MailValues,
  renderMail,
  toPersonName,
} from '@keyward/contract'
import type { AppMailRow } from '../../db/tables.ts'
import { beforeEnd, type Face, senderOf, withFace } from '../mail/mail.face.ts'
import type { Mail } from '../mail/mail.service.ts'
import { mailedProduct } from '../mail/mail.text.ts'
import { builtInOf, ownWordsOf } from './app-mails.defaults.ts'

export const tagsOf = (locale: string | null): string[] => (locale ? lookupTags(locale) : [])

/**
 * The mail of a kind that a person of a language gets: the app's own one in it, else the server's in it, else the app's default one, else
 * English. Sender and address for answers come from the default one where the app has none in the language.
 */
export function pickMail(rows: readonly AppMailRow[], kind: MailKind, tags: readonly string[]): AppMail {
  const own = tags.flatMap((tag) => rows.find(({ locale }) => locale === tag) ?? [])[0]
  if (own) return toMail(own)
  const general = rows.find(({ locale }) => locale === '')
  const builtIn = builtInOf(kind, tags)
  if (general && !builtIn) return toMail(general)
  const { from_name: fromName = null, reply_to: replyTo = null } = general ?? {}
  return { ...ownWordsOf(kind, tags).mail, fromName, replyTo }
}

const toMail = ({ subject, text, html, from_name, reply_to }: AppMailRow): AppMail => ({
  ...{ subject, text, html },
  ...{ fromName: from_name, replyTo: reply_to },
})

/** A day as a mail names it, in UTC. */
export const dayInWords = (at: number, tags: readonly string[]): string =>
  new Intl.DateTimeFormat(tags[0] ?? 'en', { dateStyle: 'long', timeZone: 'UTC' }).format(at)

export interface Rendered {
  to: string
  mail: AppMail
  values: MailValues
  face: Face
  /** What ends the mail: words, and the link that ends such mails. */
  unsubscribe?: { words: string; link: string } | undefined
}

/** A mail to a buyer or a customer, filled in. It contains keys or links, so it is never logged. */
export function toBuyerMail(rendered: Rendered): Mail {
  return { ...toMessage(rendered), isSecret: true }
}

/** A mail to a buyer without a word of the vendor: its app's name counts only if it is none of a message with a link. */
export function toServerMail(
  { values, ...others }: Omit<Rendered, 'mail' | 'face'>,
  kind: MailKind | 'receipt',
  tags: readonly string[],
): Mail {
  const words = ownWordsOf(kind === 'receipt' ? 'purchase' : kind, tags)
  const mail = kind === 'receipt' ? words.receipt : words.mail
  const app = toPersonName(values.app) ?? mailedProduct
  const { fromName: _app, ...message } = toMessage({
    ...others,
    mail: { ...mail, ...noSender },
    values: { ...values, ...noWords, app },
    face: noFace,
  })
  return { ...message, isSecret: true }
}

const noSender = { fromName: null, replyTo: null }
const noFace: Face = { name: null, support: null, shop: null, logo: null }
/** Texts and links of the vendor. */
const noWords = { type: null, renew: null, summary: null, link: null }

/** The mail as the vendor gets it to see it; its key is invented. */
export function toTestMail({ mail, ...others }: Rendered, kind: MailKind, tags: readonly string[]): Mail {
  const { test } = ownWordsOf(kind, tags)
  const noted: MailTemplate = {
    subject: `[${test.subject}] ${mail.subject}`,
    text: `${test.note}\n\n${mail.text}`,
    html: mail.html === null ? null : `<p>${test.note}</p>\n${mail.html}`,
  }
  return toMessage({ ...others, mail: { ...mail, ...noted } })
}

function toMessage({ to, mail, values, face, unsubscribe }: Rendered): Mail {
  const { subject, text, html: rendered } = renderMail(mail, values)
  const html = rendered !== null && isSafeHtml(mail.html ?? '', rendered) ? rendered : null
  const message = {
    ...{ to, subject, text: `${text}\n` },
    ...(html !== null && { html }),
    fromName: mail.fromName ?? face.name ?? senderOf(values.app),
    ...(mail.replyTo !== null && { replyTo: mail.replyTo }),
  }
  const mailed = withFace(message, face)
  return unsubscribe ? withUnsubscribe(mailed, unsubscribe) : mailed
}

/** A mail that ends with a link which stops such mails. */
const withUnsubscribe = (mail: Mail, { words, link }: { words: string; link: string }): Mail => ({
  ...mail,
  text: `${mail.text}\n-- \n${words} ${link}\n`,
  // Neither words nor link contain a sign of HTML.
  ...(mail.html !== undefined && {
    html: beforeEnd(mail.html, `<p>${words} <a href="${link}">${link}</a></p>\n`),
  }),
  unsubscribe: link,
})
