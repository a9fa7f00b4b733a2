import {
  type AppMail,
  isSafeHtml,
  lookupTags,
  type MailTemplate,
  type MailValues,
  renderMail,
  toPersonName,
} from '@keyward/contract'
import type { AppMailRow } from '../../db/tables.ts'
import { type Face, senderOf, withFace } from '../mail/mail.face.ts'
import type { Mail } from '../mail/mail.service.ts'
import { mailedProduct } from '../mail/mail.text.ts'
import { builtInOf, english } from './app-mails.defaults.ts'

export const tagsOf = (locale: string | null): string[] => (locale ? lookupTags(locale) : [])

/**
 * The mail that a buyer of a language gets: the app's own one in it, else the server's in it, else the app's default one, else
 * English. Sender and address for answers come from the default one where the app has none in the language.
 */
export function pickMail(rows: readonly AppMailRow[], tags: readonly string[]): AppMail {
  const own = tags.flatMap((tag) => rows.find(({ locale }) => locale === tag) ?? [])[0]
  if (own) return toMail(own)
  const general = rows.find(({ locale }) => locale === '')
  const builtIn = builtInOf(tags)
  if (general && !builtIn) return toMail(general)
  const { from_name: fromName = null, reply_to: replyTo = null } = general ?? {}
  return { ...(builtIn ?? english).mail, fromName, replyTo }
}

const toMail = ({ subject, text, html, from_name, reply_to }: AppMailRow): AppMail => ({
  ...{ subject, text, html },
  ...{ fromName: from_name, replyTo: reply_to },
})

export interface Rendered {
  to: string
  mail: AppMail
  values: MailValues
  face: Face
}

/** A mail to a buyer, filled in. It contains keys, so it is never logged. */
export function toBuyerMail(rendered: Rendered): Mail {
  return { ...toMessage(rendered), isSecret: true }
}

/** A mail to a buyer without a word of the vendor: its app's name counts only if it is none of a message with a link. */
export function toServerMail({ to, values }: Omit<Rendered, 'mail' | 'face'>, tags: readonly string[]): Mail {
  const { mail } = builtInOf(tags) ?? english
  const app = toPersonName(values.app) ?? mailedProduct
  const { fromName: _app, ...message } = toMessage({
    to,
    mail: { ...mail, ...noSender },
    values: { ...values, app },
    face: noFace,
  })
  return { ...message, isSecret: true }
}

const noSender = { fromName: null, replyTo: null }
const noFace: Face = { name: null, support: null, shop: null, logo: null }

/** The mail as the vendor gets it to see it; its key is invented. */
export function toTestMail({ mail, ...others }: Rendered, tags: readonly string[]): Mail {
  const { test } = builtInOf(tags) ?? english
  const noted: MailTemplate = {
    subject: `[${test.subject}] ${mail.subject}`,
    text: `${test.note}\n\n${mail.text}`,
    html: mail.html === null ? null : `<p>${test.note}</p>\n${mail.html}`,
  }
  return toMessage({ ...others, mail: { ...mail, ...noted } })
}

function toMessage({ to, mail, values, face }: Rendered): Mail {
  const { subject, text, html: rendered } = renderMail(mail, values)
  const html = rendered !== null && isSafeHtml(mail.html ?? '', rendered) ? rendered : null
  const message = {
    ...{ to, subject, text: `${text}\n` },
    ...(html !== null && { html }),
    fromName: mail.fromName ?? face.name ?? senderOf(values.app),
    ...(mail.replyTo !== null && { replyTo: mail.replyTo }),
  }
  return withFace(message, face)
}
