import type { Mail } from './mail.service.ts'

/** Plain text, or text that ends with a link. */
type Paragraph = string | { before: string; link: string }

/** Builds the text and the HTML form of a message; all input is escaped. */
export function composeMail(message: { to: string; subject: string; paragraphs: Paragraph[] }): Mail {
  const { to, subject, paragraphs } = message
  return {
    to,
    subject,
    text: `${paragraphs.map(toText).join('\n\n')}\n`,
    html: paragraphs.map((paragraph) => `<p>${toHtml(paragraph)}</p>\n`).join(''),
  }
}

const toText = (paragraph: Paragraph): string =>
  typeof paragraph === 'string' ? paragraph : `${paragraph.before} ${paragraph.link}`

function toHtml(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return escapeHtml(paragraph)
  const link = escapeHtml(paragraph.link)
  return `${escapeHtml(paragraph.before)} <a href="${link}">${link}</a>`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign)

/** Stands for the name of an app that is no name, but a message with an address. */
export const mailedProduct = 'Keyward'
