import { z } from 'zod'
import { toPlainText, unknownPlaceholders } from './app-mail-text.ts'
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

/** Names what is wrong with the placeholders of a text. */
const placeholders = (context: { value: string; issues: z.core.$ZodRawIssue[] }) => {
  const [unknown] = unknownPlaceholders(context.value)
  if (unknown) {
    const message = `Unknown placeholder ${unknown.slice(0, 40)}. Use {key}, {app}, {name}, {order} or {page}.`
    context.issues.push({ code: 'custom', message, input: context.value })
  }
}

const mailSubject = text(1, 200, 'Subject')
  .check(placeholders)
  .refine(
    (value) => !/\{(key|page)\}/.test(value),
    'The subject cannot contain {key} or {page}: others see subjects',
  )

const mailText = lines(limits.appMailTextMax, 'Text')
  .check(placeholders)
  .refine((value) => value.includes('{key}'), 'The text needs {key}, where the license keys go')

const mailHtml = lines(limits.appMailHtmlMax, 'HTML')
  .check(placeholders)
  .refine((value) => value.includes('{key}'), 'The HTML needs {key}, where the license keys go')
  .refine(
    (value) => placeholdersInTags(value).length === 0,
    'Inside of a tag only {page} can stand, for example <a href="{page}">, and nothing in styles',
  )
  .refine((value) => refusedElement(value) === undefined, {
    error: ({ input }) => `A mail cannot have <${refusedElement(String(input))}>`,
  })
  .refine(
    (value) => deceivingLink(value) === undefined,
    'A link cannot show another address than the one that it leads to',
  )

const fromName = text(1, 64, 'Sender name').refine(
  (value) => !/[<>"@]/.test(value) && toPlainText(value) === value.replace(/\s+/g, ' '),
  'Sender name contains characters that are not allowed',
)

const mail = {
  subject: mailSubject,
  text: mailText,
  html: mailHtml.nullable().describe('null for a mail of text alone'),
  fromName: fromName.nullable().describe('null for the name of the app; the address is the server’s'),
  replyTo: email.nullable().describe('where answers go; null for the server’s address'),
}

const { locale } = localeQuery.shape

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
    summary: 'Get the mail that buyers of this app get with their keys, in a language or the default one',
    params: idParams,
    query: localeQuery,
    data: shown,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/apps/:id/mail',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary:
      'Change the mail of a language. `{key}`, `{app}`, `{name}`, `{order}` and `{page}` are filled in; a line about a page that the app does not have is left out',
    params: idParams,
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
    query: localeQuery,
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
    body: z.strictObject({ locale }),
    data: none,
    errors: ['email_not_confirmed', 'rate_limited'],
  }),
}

export type AppMail = z.output<typeof shown>['mail']
