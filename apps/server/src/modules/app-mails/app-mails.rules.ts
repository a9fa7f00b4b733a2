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
import { customerWordsOf, written } from './customer-mails.texts.ts'

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
  return { ...toVendorMail(rendered), isSecret: true }
}

/** A mail to a buyer without a word of the vendor: its app's name counts only if it is none of a message with a link. */
export function toServerMail(
  { to, values, unsubscribe }: Omit<Rendered, 'mail' | 'face'>,
  kind: MailKind | 'receipt',
  tags: readonly string[],
): Mail {
  const words = ownWordsOf(kind === 'receipt' ? 'purchase' : kind, tags)
  const mail = kind === 'receipt' ? words.receipt : words.mail
  const app = toPersonName(values.app) ?? mailedProduct
  const message = toMessage(to, mail, { ...values, ...noWords, app })
  return { ...withUnsubscribe(message, unsubscribe), isSecret: true }
}

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
  return toVendorMail({ ...others, mail: { ...mail, ...noted } })
}

function toVendorMail({ to, mail, values, face, unsubscribe }: Rendered): Mail {
  const message = {
    ...toMessage(to, mail, values),
    fromName: mail.fromName ?? face.name ?? senderOf(values.app),
    ...(mail.replyTo !== null && { replyTo: mail.replyTo }),
  }
  return withUnsubscribe(withFace(message, face), unsubscribe)
}

function toMessage(to: string, mail: MailTemplate, values: MailValues): Mail {
  const { subject, text, html: rendered } = renderMail(mail, values)
  const html = rendered !== null && isSafeHtml(mail.html ?? '', rendered) ? rendered : null
  return { to, subject, text: `${text}\n`, ...(html !== null && { html }) }
}

/** A mail that ends with a link which stops such mails, if it has one. */
function withUnsubscribe(mail: Mail, unsubscribe: Rendered['unsubscribe']): Mail {
  if (!unsubscribe) return mail
  const { words, link } = unsubscribe
  return {
    ...mail,
    text: `${mail.text}\n-- \n${words} ${link}\n`,
    // Neither words nor link contain a sign of HTML.
    ...(mail.html !== undefined && {
      html: beforeEnd(mail.html, `<p>${words} <a href="${link}">${link}</a></p>\n`),
    }),
    unsubscribe: link,
  }
}

interface Language {
  mail: MailTemplate
  /** For a buyer who has renewed another customer's license. */
  receipt: MailTemplate
  /** What a test says about itself. */
  test: { subject: string; note: string }
}

/** The default mail to buyers, by language. */
const languages = {
  en: {
    mail: written(
      'Your license for {app}',
      'Hello {name},',
      'thank you for buying {app}. This is what unlocks it:',
      '{key}',
      'Copy the line into the program when it asks for a license key. Please keep this mail: you need the key again on a new computer.',
      'Your licenses and devices: {page}',
      'Order: {order}',
    ),
    receipt: written(
      'Your order {order} for {app}',
      'Thank you for your order.',
      'The license for {app} that it names is renewed. Its key stays the same.',
      'Order: {order}',
    ),
    test: { subject: 'Test', note: 'This is a test. Its key is invented.' },
  },
  de: {
    mail: written(
      'Ihre Lizenz für {app}',
      'Guten Tag {name},',
      'vielen Dank für den Kauf von {app}. Damit schalten Sie es frei:',
      '{key}',
      'Kopieren Sie die Zeile in das Programm, wenn es nach einem Lizenzschlüssel fragt. Bitte bewahren Sie diese E-Mail auf: Auf einem neuen Computer brauchen Sie den Schlüssel wieder.',
      'Ihre Lizenzen und Geräte: {page}',
      'Bestellung: {order}',
    ),
    receipt: written(
      'Ihre Bestellung {order} für {app}',
      'Vielen Dank für Ihre Bestellung.',
      'Die Lizenz für {app}, für die sie ist, wurde verlängert. Ihr Schlüssel bleibt derselbe.',
      'Bestellung: {order}',
    ),
    test: { subject: 'Test', note: 'Dies ist ein Test. Der Schlüssel ist erfunden.' },
  },
  es: {
    mail: written(
      'Tu licencia de {app}',
      'Hola {name}:',
      'Gracias por comprar {app}. Con esto lo activas:',
      '{key}',
      'Copia la línea en el programa cuando te pida una clave de licencia. Guarda este correo: volverás a necesitar la clave en otro ordenador.',
      'Tus licencias y dispositivos: {page}',
      'Pedido: {order}',
    ),
    receipt: written(
      'Tu pedido {order} de {app}',
      'Gracias por tu pedido.',
      'La licencia de {app} a la que se refiere está renovada. Su clave sigue siendo la misma.',
      'Pedido: {order}',
    ),
    test: { subject: 'Prueba', note: 'Esto es una prueba. La clave es inventada.' },
  },
  pt: {
    mail: written(
      'Sua licença do {app}',
      'Olá {name},',
      'Obrigado por comprar {app}. É com isto que você o ativa:',
      '{key}',
      'Copie a linha no programa quando ele pedir uma chave de licença. Guarde este e-mail: você vai precisar da chave em um computador novo.',
      'Suas licenças e dispositivos: {page}',
      'Pedido: {order}',
    ),
    receipt: written(
      'Seu pedido {order} do {app}',
      'Obrigado pelo seu pedido.',
      'A licença do {app} a que ele se refere foi renovada. A chave continua a mesma.',
      'Pedido: {order}',
    ),
    test: { subject: 'Teste', note: 'Este é um teste. A chave é inventada.' },
  },
  zh: {
    mail: written(
      '您的 {app} 许可证',
      '您好 {name}：',
      '感谢您购买 {app}。请用以下密钥激活：',
      '{key}',
      '当程序要求输入许可证密钥时，请将该行复制进去。请保存此邮件：更换电脑时您会再次需要该密钥。',
      '您的许可证和设备：{page}',
      '订单号：{order}',
    ),
    receipt: written(
      '您的 {app} 订单 {order}',
      '感谢您的订购。',
      '该订单所指的 {app} 许可证已续期，密钥保持不变。',
      '订单：{order}',
    ),
    test: { subject: '测试', note: '这是一封测试邮件，其中的密钥是虚构的。' },
  },
} as const satisfies Record<string, Language>

export const builtInLocales = Object.keys(languages)

/** The built-in text of a kind of mail. `tags` are a locale's language tags; the last tag has no region. */
export function builtInOf(kind: MailKind, tags: readonly string[]): Language | undefined {
  const language = (languages as Record<string, Language>)[tags.at(-1) ?? '']
  if (!language || kind === 'purchase') return language
  const { mails, testNote: note } = customerWordsOf(tags)
  return { ...language, mail: mails[kind], test: { ...language.test, note } }
}

/** The same, in English where the server has no other. */
export const ownWordsOf = (kind: MailKind, tags: readonly string[]): Language =>
  builtInOf(kind, tags) ?? builtInOf(kind, ['en']) ?? languages.en
