import { toPlainText } from '@keyward/contract'
import type { Db } from '../../db/index.ts'
import { type Logo, type LogoRef, logoCid, type Mail } from './mail.service.ts'
import { escapeHtml } from './mail.text.ts'

/** What customers see of a vendor. */
export interface Face {
  name: string | null
  /** An email address or an https link. */
  support: string | null
  /** Where people without a key buy. */
  shop: string | null
  logo: LogoRef | null
}

/** The bytes of a logo; undefined once the vendor has another one. */
export async function findLogo(db: Db, { ownerId, digest }: LogoRef): Promise<Logo | undefined> {
  const row = await db
    .selectFrom('profiles')
    .select(['logo', 'logo_type'])
    .where('owner_id', '=', ownerId)
    .where('logo_digest', '=', digest)
    .limit(1)
    .executeTakeFirst()
  if (!row?.logo || row.logo_type === null) return undefined
  return { bytes: Buffer.from(row.logo, 'base64'), type: row.logo_type }
}

/** A mail in the name of a vendor, whose own sender and address for answers win. */
export function withFace(mail: Mail, { name, support, shop, logo }: Face): Mail {
  const lines = [name, support, shop].filter((line) => line !== null)
  const isAddress = support !== null && !isLink(support)
  return {
    ...mail,
    ...(mail.fromName === undefined && name !== null && { fromName: name }),
    ...(mail.replyTo === undefined && isAddress && { replyTo: support }),
    ...(logo && { logo }),
    ...(lines.length > 0 && {
      text: `${mail.text}\n${lines.join('\n')}\n`,
      ...(mail.html !== undefined && {
        html: beforeEnd(mail.html, `<p>${lines.map(toHtml).join('<br>')}</p>\n`),
      }),
    }),
  }
}

/** A mail with the logo above its text, which becomes HTML for that. */
export function withLogo(mail: Mail): Mail {
  const { text, html = `${toParagraphs(text)}\n`, fromName = '' } = mail
  const image = `<p><img src="cid:${logoCid}" alt="${escapeHtml(fromName)}" style="max-width:240px;max-height:64px"></p>\n`
  const body = /<body[^>]*>/i.exec(html)
  const at = body ? body.index + body[0].length : 0
  return { ...mail, html: `${html.slice(0, at)}${image}${html.slice(at)}` }
}

/** The name of an app as a sender: one that has the form of an address would hide the real one. */
export const senderOf = (app: string): string => toPlainText(app.replace(/[<>"@]/g, ' '))

const isLink = (support: string): boolean => support.startsWith('https:')

const toHtml = (line: string): string => {
  const shown = escapeHtml(line)
  return isLink(line) ? `<a href="${shown}">${shown}</a>` : shown
}

const toParagraphs = (text: string): string =>
  text
    .trim()
    .split(/\n{2,}/)
    .map((part) => `<p>${part.split('\n').map(escapeHtml).join('<br>')}</p>`)
    .join('\n')

/** HTML with a part at the end of its body. */
export function beforeEnd(html: string, part: string): string {
  const at = html.search(/<\/body>/i)
  return at < 0 ? `${html}${part}` : `${html.slice(0, at)}${part}${html.slice(at)}`
}
