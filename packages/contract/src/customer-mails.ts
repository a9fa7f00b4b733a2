import { z } from 'zod'
import { mailKinds } from './app-mail-text.ts'
import { kindQuery } from './app-mails.ts'
import { customerMailStates, limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { localeQuery } from './locales.ts'
import { appFilter, appRef, id, idParams, isoTime, none, pageQuery, pagination } from './shared.ts'

const days = z.int().min(1, 'From 1 to 90 days').max(90, 'From 1 to 90 days')

/** Which mails an app sends to its customers. */
export const customerMailSettings = z.strictObject({
  endsSoonDays: z
    .array(days)
    .max(limits.endsSoonDaysMax, `At most ${limits.endsSoonDaysMax} times`)
    .refine((list) => new Set(list).size === list.length, 'Each number of days once')
    .describe('how many days before its end a license is told of; empty for no such mails'),
  ended: z.boolean().describe('a license has ended'),
  paymentFailed: z.boolean().describe('a payment of a subscription failed'),
  updatesEndSoon: z
    .boolean()
    .describe(`the updates of a license end within ${limits.updatesEndSoonDays} days, and the license later`),
  renewed: z.boolean().describe('an order with a reference has renewed a license'),
})

const customerMailKinds = mailKinds.filter((kind) => kind !== 'purchase')

const customerMail = z.strictObject({
  _id: z.string(),
  app: appRef,
  kind: z.enum(customerMailKinds),
  customer: z.strictObject({ _id: z.string(), email: z.string() }),
  license: z.strictObject({ _id: z.string(), key: z.string() }).nullable(),
  end: isoTime.nullable().describe('the end that it tells of'),
  days: z.int().nullable().describe('how many days before it, for `endsSoon`'),
  state: z
    .enum(customerMailStates)
    .describe(
      'waiting: for its turn among the mails of a day; missed: it could not be sent in time; dropped: it was not needed any more',
    ),
  createdAt: isoTime,
  doneAt: isoTime.nullable().describe('when it was sent or given up'),
})

const mailValues = z.strictObject({
  app: z.string(),
  name: z.string().nullable(),
  order: z.string().nullable(),
  page: z.string().nullable(),
  type: z.string().nullable(),
  end: z.string().nullable(),
  renew: z.string().nullable(),
  version: z.string().nullable(),
  summary: z.string().nullable(),
  link: z.string().nullable(),
})

const tag = 'Customers'

export const customerMails = {
  get: endpoint({
    method: 'GET',
    path: '/apps/:id/customer-mails',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'Get which mails this app sends to its customers',
    params: idParams,
    data: customerMailSettings,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/apps/:id/customer-mails',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary: 'Choose which mails this app sends to its customers; omitted fields stay unchanged',
    params: idParams,
    body: customerMailSettings
      .partial()
      .refine((body) => Object.values(body).some((value) => value !== undefined), 'Nothing to change'),
    data: customerMailSettings,
  }),
  sample: endpoint({
    method: 'GET',
    path: '/apps/:id/mail/sample',
    access: 'owner',
    permission: ['apps:read', 'licenses:read', 'clients:read'],
    tag,
    summary:
      'Get what a mail of a kind would be filled in with for a license: the named one, else one with a customer that ends next',
    params: idParams,
    query: localeQuery.extend({ kind: kindQuery.shape.kind, license: id.optional() }),
    data: z.strictObject({
      sample: z
        .strictObject({
          license: z.strictObject({ _id: z.string(), key: z.string() }),
          to: z.string(),
          values: mailValues,
        })
        .nullable()
        .describe('null if the app has no license with a customer'),
    }),
  }),
  list: endpoint({
    method: 'GET',
    path: '/customer-mails',
    access: 'owner',
    permission: ['licenses:read', 'clients:read'],
    tag,
    summary: `List the mails to customers about their licenses and releases, newest first, until ${limits.customerMailDays} days after they were sent or given up`,
    query: pageQuery.extend({
      app: appFilter,
      customer: id.optional(),
      kind: z.enum(customerMailKinds).optional(),
      state: z.enum(customerMailStates).optional(),
    }),
    data: z.strictObject({ mails: z.array(customerMail), pagination }),
  }),
}

const token = z.object({ token: z.string().min(1).max(100) })

export const unsubscribing = {
  show: endpoint({
    method: 'GET',
    path: '/unsubscribe/:token',
    access: 'public',
    tag,
    summary: 'The page that a link in a mail to a customer opens: it has a button, and changes nothing',
    params: token,
    data: none,
    file: ['text/html'],
  }),
  stop: endpoint({
    method: 'POST',
    path: '/unsubscribe/:token',
    access: 'public',
    tag,
    summary:
      'Stop mails about the ends of licenses, updates and failed payments, by that button or by a mail program (RFC 8058)',
    params: token,
    raw: true,
    data: none,
    file: ['text/html'],
  }),
}

export type CustomerMailSettings = z.output<typeof customerMailSettings>
export type ToldCustomer = z.output<typeof customerMail>
