import { z } from 'zod'
import { mailKinds } from './app-mail-text.ts'
import { client, ownersDevice } from './clients.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { license } from './licenses.ts'
import {
  appFilter,
  email,
  idParams,
  isoTime,
  none,
  pageQuery,
  pagination,
  personName,
  search,
  text,
} from './shared.ts'

/** A person that a vendor sells to: one for each e-mail address. */
const customer = z.strictObject({
  _id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  note: z.string().nullable(),
  mails: z
    .boolean()
    .describe(
      'whether it wants mails about ends of licenses, updates and failed payments; keys, renewals, security and sign-in links are always mailed',
    ),
  createdAt: isoTime,
  licenses: z.int().describe('how many licenses name it as their customer'),
  orders: z.int(),
})

/** A mail without what it says: the keys of an order, or a link to the page of an app. */
const customerMail = z.strictObject({
  _id: z.string(),
  kind: z.enum([...mailKinds, 'link']),
  order: z
    .strictObject({ _id: z.string(), order: z.string() })
    .nullable()
    .describe('the order whose keys it contains; null for another mail'),
  license: z
    .strictObject({ _id: z.string(), key: z.string() })
    .nullable()
    .describe(
      'the license, or the first of several, whose key it contains without an order; null for another mail',
    ),
  state: z
    .enum(['queued', 'sent', 'failed', 'expired', 'waiting', 'missed', 'dropped'])
    .describe(
      'expired: it waited until its link ended, or three days; waiting, missed and dropped: see `GET /customer-mails`',
    ),
  createdAt: isoTime.describe('when it was due first'),
})

const details = {
  name: personName.nullable().optional(),
  note: text(0, 1000, 'Note').nullable().optional(),
  mails: z.boolean().optional(),
}

const one = z.strictObject({ customer })
const tag = 'Customers'

export const customers = {
  list: endpoint({
    method: 'GET',
    path: '/customers',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary:
      'List customers, newest first; search matches addresses and names. With some apps, only those who have something in these',
    query: pageQuery.extend({ app: appFilter, search }),
    data: z.strictObject({ customers: z.array(customer), pagination }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/customers',
    access: 'owner',
    permission: 'clients:write',
    allApps: true,
    tag,
    summary: 'Add a customer; licenses and end users can also name one by its address, which adds it',
    body: z.strictObject({ email, ...details }),
    data: one,
    status: 201,
    errors: ['customer_exists'],
  }),
  get: endpoint({
    method: 'GET',
    path: '/customers/:id',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary: `Get a customer with its newest licenses, end users, devices and mails, ${limits.customerPartsMax} of each at most`,
    params: idParams,
    data: z.strictObject({
      customer,
      licenses: z
        .array(license)
        .nullable()
        .describe('its own, and those of its end users; null without `licenses:read`'),
      clients: z.array(client).describe('those linked to it, and those who use its licenses'),
      devices: z
        .array(ownersDevice.extend({ client: z.strictObject({ _id: z.string(), username: z.string() }) }))
        .describe('of these end users, the one seen last first'),
      mails: z
        .array(customerMail)
        .describe(
          `newest first, until ${limits.mailDays} days after they were sent or failed; those with keys need \`licenses:read\`, those with links access to all apps`,
        ),
      refusal: z
        .string()
        .nullable()
        .describe(
          `the reference of the last refusal of its end users and unused keys within ${limits.customerRefusalDays} days`,
        ),
    }),
  }),
  update: endpoint({
    method: 'PUT',
    path: '/customers/:id',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary:
      'Change the address, name or note of a customer, or whether it wants mails; omitted fields stay unchanged. The address needs access to all apps',
    params: idParams,
    body: z
      .strictObject({ email: email.optional(), ...details })
      .refine((body) => Object.keys(body).length > 0, { path: ['email'], message: 'Nothing to change' }),
    data: one,
    errors: ['customer_exists'],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/customers/:id',
    access: 'owner',
    permission: 'clients:delete',
    allApps: true,
    job: true,
    tag,
    summary:
      'Erase a person: the customer, its end users with devices and sessions, its mails, and what events and records say about it. Licenses and orders stay without it',
    params: idParams,
    data: none,
  }),
  export: endpoint({
    method: 'GET',
    path: '/customers/:id/export',
    access: 'owner',
    permission: 'clients:read',
    allApps: true,
    job: true,
    tag,
    summary: 'Export all that is known of a person as a file',
    params: idParams,
    data: none,
    file: ['application/json'],
  }),
}

export type Customer = z.output<typeof customer>
export type CustomerMail = z.output<typeof customerMail>
