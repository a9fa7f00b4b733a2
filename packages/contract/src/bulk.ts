import { z } from 'zod'
import { client, clientFilter } from './clients.ts'
import { limits, longestExtension } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { license, licenseFilter } from './licenses.ts'
import { banReason, exportFormat, exportTypes, id, instant, isoTime, none } from './shared.ts'
import { type Duration, duration } from './terms.ts'
import { undoBody, undoRows } from './undo.ts'

export const bulkLicenseAction = z.enum(['extend', 'ban', 'unban', 'delete'])
export const bulkClientAction = z.enum(['extend', 'ban', 'unban', 'reset-hwid', 'delete'])

const ids = z.array(id).min(1).max(limits.bulkMax)

const changeFields = {
  reason: banReason.optional().describe('of a ban; replaces `{reason}` in the text that programs get'),
  days: z.int().min(1).max(limits.extendDaysMax).optional().describe('of 24 hours each'),
  duration: duration
    .refine(({ value, unit }) => value <= longestExtension[unit], {
      path: ['value'],
      message: 'An extension can have at most 10 years',
    })
    .optional()
    .describe('days, months and years are those of the calendar in `timeZone`'),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'Unknown time zone')
    .optional()
    .describe('an IANA name, such as Europe/Berlin, for `duration`; UTC if omitted'),
  expiresAt: instant
    .nullable()
    .optional()
    .describe('a new end, or null: never expires. What ends later stays as it is, unless `shorten` is true'),
  shorten: z.boolean().optional().describe('with `expiresAt`: also gives an earlier end'),
}
const rules = [
  {
    path: ['reason'],
    message: 'Only a ban takes a reason',
    fits: ({ action, reason }: ChangeBody) => reason === undefined || action === 'ban',
  },
  {
    path: ['days'],
    message: 'Extending requires exactly one of days, duration and expiresAt; other actions take none',
    fits: ({ action, days, duration, expiresAt }: ChangeBody) =>
      [days, duration, expiresAt].filter((field) => field !== undefined).length ===
      (action === 'extend' ? 1 : 0),
  },
  {
    path: ['timeZone'],
    message: 'Only a duration takes a time zone',
    fits: ({ duration, timeZone }: ChangeBody) => timeZone === undefined || duration !== undefined,
  },
  {
    path: ['shorten'],
    message: 'Only expiresAt takes shorten',
    fits: ({ expiresAt, shorten }: ChangeBody) => shorten === undefined || expiresAt !== undefined,
  },
]
interface ChangeBody {
  action: string
  reason?: string | undefined
  days?: number | undefined
  duration?: Duration | undefined
  timeZone?: string | undefined
  expiresAt?: string | null | undefined
  shorten?: boolean | undefined
}
const fitsRules = (body: ChangeBody, context: z.RefinementCtx) => {
  const broken = rules.find(({ fits }) => !fits(body))
  if (broken) context.addIssue({ code: 'custom', path: broken.path, message: broken.message })
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** A row that stays as it is: deleted, or changed since by someone else. */
const skipped = z.array(z.strictObject({ _id: z.string(), reason: z.enum(['missing', 'changed']) }))

/** A line of an import with its outcome, or its expected outcome in a dry run. The server generates a key for null. */
export const importedRow = z.strictObject({
  line: z.int().describe('counted from 1, including the header'),
  outcome: z.enum(['created', 'skipped', 'error']),
  key: z.string().nullable(),
  expiresAt: isoTime.nullable(),
  note: z.string().nullable(),
  sold: z.record(z.string(), z.string()).describe('the cells of further columns that are not empty'),
  message: z.string().nullable().describe('why the line is skipped or cannot be imported'),
})

const tag = 'Bulk'

export const bulk = {
  licenses: endpoint({
    method: 'POST',
    path: '/licenses/bulk',
    access: 'owner',
    permission: 'licenses:write',
    deleting: ['licenses:delete'],
    actionField: 'action',
    tag,
    summary: `Change or delete up to ${limits.bulkMax} licenses, all or none; time is added to the later of now and the expiry`,
    body: z.strictObject({ action: bulkLicenseAction, ids, ...changeFields }).superRefine(fitsRules),
    bodyLimit: 65_536,
    data: z.strictObject({
      action: bulkLicenseAction,
      changed: z.int().describe('how many really changed'),
      licenses: z.array(license).describe('after the change; empty if deleted'),
      undo: undoRows,
    }),
    errors: ['not_found'],
  }),
  undoLicenses: endpoint({
    method: 'POST',
    path: '/licenses/bulk/undo',
    access: 'owner',
    permission: 'licenses:write',
    tag,
    summary:
      'Take back what extending, banning or unbanning many licenses did, except where one has changed since',
    body: undoBody,
    bodyLimit: 1_048_576,
    valuesMax: 13_500,
    data: z.strictObject({
      changed: z.int(),
      licenses: z.array(license).describe('after the change'),
      skipped,
    }),
    errors: ['not_found'],
  }),
  clients: endpoint({
    method: 'POST',
    path: '/clients/bulk',
    access: 'owner',
    permission: 'clients:write',
    deleting: ['clients:delete'],
    actionField: 'action',
    tag,
    summary: `Change or delete up to ${limits.bulkMax} end users, all or none; time is added to the later of now and the expiry`,
    body: z.strictObject({ action: bulkClientAction, ids, ...changeFields }).superRefine(fitsRules),
    bodyLimit: 65_536,
    data: z.strictObject({
      action: bulkClientAction,
      changed: z.int().describe('how many really changed'),
      clients: z.array(client).describe('after the change; empty if deleted'),
      undo: undoRows,
    }),
    errors: ['not_found', 'plan_limit_reached'],
  }),
  undoClients: endpoint({
    method: 'POST',
    path: '/clients/bulk/undo',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary:
      'Take back what extending, banning or unbanning many end users did, except where one has changed since',
    body: undoBody,
    bodyLimit: 1_048_576,
    valuesMax: 13_500,
    data: z.strictObject({
      changed: z.int(),
      clients: z.array(client).describe('after the change'),
      skipped,
    }),
    errors: ['not_found', 'plan_limit_reached'],
  }),
  exportLicenses: endpoint({
    method: 'GET',
    path: '/licenses/export',
    access: 'owner',
    permission: 'licenses:read',
    job: true,
    tag,
    summary:
      'Export the licenses that match the filters as a file, newest first. With `clients:read`, CSV has the addresses of their customers',
    query: licenseFilter.extend({ format: exportFormat }),
    data: none,
    file: exportTypes,
  }),
  exportClients: endpoint({
    method: 'GET',
    path: '/clients/export',
    access: 'owner',
    permission: 'clients:read',
    job: true,
    tag,
    summary:
      'Export the end users that match the filters as a file, newest first. CSV has the addresses of their customers',
    query: clientFilter.extend({ format: exportFormat }),
    data: none,
    file: exportTypes,
  }),
  importLicenses: endpoint({
    method: 'POST',
    path: '/licenses/import',
    access: 'owner',
    permission: 'licenses:write',
    dryRun: true,
    job: true,
    tag,
    summary:
      'Import licenses from CSV with the columns of an export, all or none; existing keys are skipped. Each line has an expiresAt, a duration from first use, or a type. While a large import runs, lists may show a part of its licenses',
    body: z.strictObject({
      app: id,
      csv: z.string().min(1, 'The file is empty').max(1_000_000, 'The file is too large'),
      dryRun: z.boolean().default(false),
    }),
    bodyLimit: 1_048_576,
    data: z.strictObject({
      dryRun: z.boolean(),
      created: z.int(),
      skipped: z.int(),
      failed: z
        .int()
        .describe('rows that cannot be imported; without dryRun they make the call fail with 400'),
      ignoredColumns: z.array(z.string()),
      rows: z.array(importedRow),
    }),
    errors: ['plan_limit_reached'],
  }),
}

export type BulkLicenseAction = z.output<typeof bulkLicenseAction>
export type BulkClientAction = z.output<typeof bulkClientAction>
export type ImportedRow = z.output<typeof importedRow>
