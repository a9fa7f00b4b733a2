import { z } from 'zod'
import { type ActionName, actions } from './actions.ts'
import { endpoint } from './endpoint.ts'
import {
  appFilter,
  appRef,
  exportFormat,
  exportTypes,
  id,
  instant,
  isoTime,
  none,
  pageQuery,
  pagination,
  search,
} from './shared.ts'

const action = z.enum(Object.keys(actions) as [ActionName, ...ActionName[]])

const record = z.strictObject({
  _id: z.string(),
  at: isoTime,
  actor: z
    .strictObject({
      kind: z
        .string()
        .describe(
          '`owner`, `member`, `api_key`, `reseller`, `program`, `operator` (the command line), `provider` (of payments), `shop` or `anonymous`',
        ),
      _id: z.string(),
      name: z
        .string()
        .nullable()
        .describe('null if it no longer exists, or if the caller may not read such names'),
    })
    .describe('who did it'),
  action: z.string().describe('an event such as `license.banned`'),
  subject: z
    .strictObject({
      kind: z.string().describe('what it is, such as `license`, `end_user` or `app`'),
      _id: z.string(),
      name: z
        .string()
        .nullable()
        .describe(
          'its name, key or address; null if neither it nor the detail has one, or if the caller may not read it',
        ),
      deleted: z.boolean().describe('true if the audit log knows that it no longer exists'),
    })
    .nullable()
    .describe('what it was done to; null if it concerns several objects, or the whole account'),
  app: appRef.nullable().describe('null if it concerns no app in particular, or one that was deleted'),
  address: z.string().nullable().describe('the network address of the actor'),
  detail: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      'what changed, with `before` and `after`; long parts are a count and a digest. Null if the caller may not read such objects',
    ),
})

/** Filters of the list and the export. A bare date in `from` is its first moment, in `to` its last one, both in UTC. */
export const auditFilter = z.object({
  actor: id
    .optional()
    .describe(
      'the `_id` of an actor; `people`: the owner, members, resellers, customers, the operator and whoever has not signed in (`anonymous`); `programs`: programs, API keys, shops, the payment provider and the server',
    ),
  action: action.optional(),
  subject: id.optional().describe('the `_id` of a subject'),
  about: id
    .optional()
    .describe(
      'an `_id`: what it did, and what was done to it, alone or with other objects; of a license also to its end user, of an end user also to its licenses (the 20 newest). Of an app its settings, texts, variables, keys, license types, releases and blocks, without `app`',
    ),
  app: appFilter,
  from: instant.optional(),
  to: instant.optional(),
  search,
})

const tag = 'Audit'

export const audit = {
  list: endpoint({
    method: 'GET',
    path: '/audit',
    access: 'owner',
    permission: 'audit:read',
    tag,
    summary:
      'List who changed what, newest first; search matches names and ids of actors and subjects, network addresses, actions and details',
    query: pageQuery.extend(auditFilter.shape),
    data: z.strictObject({ records: z.array(record), pagination }),
  }),
  export: endpoint({
    method: 'GET',
    path: '/audit/export',
    access: 'owner',
    permission: 'audit:read',
    job: true,
    tag,
    summary: 'Export the records that match the filters as a file, newest first',
    query: auditFilter.extend({ format: exportFormat }),
    data: none,
    file: exportTypes,
  }),
}

export type AuditRecord = z.output<typeof record>
