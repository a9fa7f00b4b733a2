import { z } from 'zod'
import {
  type MailKind,
  mailKinds,
  placeholdersOf,
  toPlainText,
  unknownPlaceholders,
} from './app-mail-text.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { localeQuery } from './locales.ts'
import { deceivingLink, placeholdersInTags, refusedElement } from './mail-html.ts'
import { email, idParams, none, text } from './shared.ts'

const control = /[\p{Cc}\p{Cs}]/u
const hasControl = (value: string): boolean => control.test(value.replace(/[\n\t]/g, ''))

/** Text of several lines. */
const lines = (max: number, name: string) =>
  z
    .string()
    .max(max, `${name} can have at most ${max} characters`)
    .overwrite((value) => value.replace(/\r\n?/g, '\n').trim())
    .min(1, `${name} is required`)
    .refine((value) => !hasControl(value), `${name} contains characters that are not allowed`)

const mailSubject = text(1, 200, 'Subject').refine(
  (value) => !/\{(key|page|renew|link)\}/.test(value),
  'The subject cannot contain {key}, {page}, {renew} or {link}: others see subjects',
)

const mailHtml = lines(limits.appMailHtmlMax, 'HTML')
  .refine(
    (value) => placeholdersInTags(value).length === 0,
    'Inside of a tag only {page}, {renew} and {link} can stand, for example <a href="{page}">, and nothing in styles',
  )
  .refine((value) => refusedElement(value) === undefined, {
    error: ({ input }) => `A mail cannot have <${refusedElement(String(input))}>`,
  })
  .refine(
    (value) => deceivingLink(value) === undefined,
    'A link cannot show another address than the one that it leads to',
  )

/** What is wrong with the placeholders of a mail of a kind, by its part. */
export function misplaced(
  kind: MailKind,
  mail: { subject: string; text: string; html?: string | null | undefined },
): { path: 'subject' | 'text' | 'html'; message: string }[] {
  const names = placeholdersOf(kind).map((name) => `{${name}}`)
  const parts = { subject: mail.subject, text: mail.text, ...(mail.html && { html: mail.html }) }
  return (Object.entries(parts) as ['subject' | 'text' | 'html', string][]).flatMap(([path, value]) => {
    const [unknown] = unknownPlaceholders(value, kind)
    if (unknown) {
      const known = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
      return { path, message: `Unknown placeholder ${unknown.slice(0, 40)}. Use ${known}.` }
    }
    if (kind !== 'purchase' || path === 'subject' || value.includes('{key}')) return []
    const part = path === 'text' ? 'text' : 'HTML'
    return { path, message: `The ${part} needs {key}, where the license keys go` }
  })
}

const fromName = text(1, 64, 'Sender name').refine(
  (value) => !/[<>"@]/.test(value) && toPlainText(value) === value.replace(/\s+/g, ' '),
  'Sender name contains characters that are not allowed',
)

const mail = {
  subject: mailSubject,
  text: lines(limits.appMailTextMax, 'Text'),
  html: mailHtml.nullable().describe('null for a mail of text alone'),
  fromName: fromName.nullable().describe('null for the name of the app; the address is the server’s'),
  replyTo: email.nullable().describe('where answers go; null for the server’s address'),
}

const { locale } = localeQuery.shape
export const kindQuery = z.object({
  kind: z
    .enum(mailKinds)
    .default('purchase')
    .describe('which mail: what buyers get, or what customers are told'),
})
const kindAndLocale = localeQuery.extend(kindQuery.shape)

/** What a vendor writes. */
export const newAppMail = z.strictObject({
  locale: locale.describe('the language; without it the mail for all languages that have none of their own'),
  subject: mail.subject,
  text: mail.text,
  html: mail.html.optional(),
  fromName: mail.fromName.optional(),
  replyTo: mail.replyTo.optional(),
  seen: z
    .strictObject({
      subject: z.string().max(200),
      text: z.string().max(limits.appMailTextMax),
      html: z.string().max(limits.appMailHtmlMax).nullable(),
      fromName: z.string().max(64).nullable(),
      replyTo: z.string().max(254).nullable(),
    })
    .partial()
    .optional()
    .describe('what the caller saw; nothing is saved if it has changed, unless to what the call wants'),
})

const shown = z.strictObject({
  mail: z.strictObject({
    subject: z.string(),
    text: z.string(),
    html: z.string().nullable(),
    fromName: z.string().nullable(),
    replyTo: z.string().nullable(),
  }),
  changed: z.boolean().describe('whether the app has a mail of its own in this language'),
  locales: z.array(z.string()).describe('the languages with a mail of the app, besides the default'),
  builtIn: z.array(z.string()).describe('the languages of which the server has a mail'),
})

const tag = 'Shops and orders'

export const appMails = {
  get: endpoint({
    method: 'GET',
    path: '/apps/:id/mail',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary:
      'Get a mail of this app: what buyers get with their keys, or what customers are told, in a language or the default one',
    params: idParams,
    query: kindAndLocale,
    data: shown,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/apps/:id/mail',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary:
      'Change the mail of a language. `{key}`, `{app}`, `{name}`, `{order}` and `{page}` are filled in; mails of other kinds than `purchase` have no `{key}`, and also `{type}`, `{end}`, `{renew}`, `{version}`, `{summary}` and `{link}`. A line about a page or a link that there is not is left out',
    params: idParams,
    query: kindQuery,
    body: newAppMail,
    bodyLimit: 262_144,
    data: shown,
    errors: ['locales_full', 'app_mail_changed'],
  }),
  reset: endpoint({
    method: 'DELETE',
    path: '/apps/:id/mail',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary: 'Reset the mail of a language to the default',
    params: idParams,
    query: kindAndLocale,
    data: shown,
  }),
  test: endpoint({
    method: 'POST',
    path: '/apps/:id/mail/test',
    access: 'owner',
    permission: 'apps:write',
    personal: true,
    tag,
    summary:
      'Get the saved mail of a language yourself, marked as a test and with an invented key. Your address must be confirmed',
    params: idParams,
    query: kindQuery,
    body: z.strictObject({ locale }),
    data: none,
    errors: ['email_not_confirmed', 'rate_limited'],
  }),
}

export type AppMail = z.output<typeof shown>['mail']
