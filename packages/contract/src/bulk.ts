import { z } from 'zod'
import { client, clientFilter } from './clients.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { license, licenseFilter } from './licenses.ts'
import { exportFormat, exportTypes, id, isoTime, none } from './shared.ts'

export const bulkLicenseAction = z.enum(['extend', 'ban', 'unban', 'delete'])
export const bulkClientAction = z.enum(['extend', 'ban', 'unban', 'reset-hwid', 'delete'])

const ids = z.array(id).min(1).max(limits.bulkMax)
const days = z.int().min(1).max(limits.extendDaysMax).optional()
const daysRule = {
  path: ['days'],
  message: 'Extending requires days; other actions take no days',
}
const daysFit = (body: { action: string; days?: number | undefined }) =>
  (body.action === 'extend') === (body.days !== undefined)

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
    tag,
    summary: `Change or delete up to ${limits.bulkMax} licenses, all or none; days are added to the later of now and the expiry`,
    body: z.strictObject({ action: bulkLicenseAction, ids, days }).refine(daysFit, daysRule),
    bodyLimit: 65_536,
    data: z.strictObject({
      action: bulkLicenseAction,
      changed: z.int(),
      licenses: z.array(license).describe('after the change; empty if deleted'),
    }),
    errors: ['not_found'],
  }),
  clients: endpoint({
    method: 'POST',
    path: '/clients/bulk',
    access: 'owner',
    permission: 'clients:write',
    deleting: ['clients:delete'],
    tag,
    summary: `Change or delete up to ${limits.bulkMax} end users, all or none; days are added to the later of now and the expiry`,
    body: z.strictObject({ action: bulkClientAction, ids, days }).refine(daysFit, daysRule),
    bodyLimit: 65_536,
    data: z.strictObject({
      action: bulkClientAction,
      changed: z.int(),
      clients: z.array(client).describe('after the change; empty if deleted'),
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
    summary: 'Export the licenses that match the filters as a file, newest first',
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
    summary: 'Export the end users that match the filters as a file, newest first',
    query: clientFilter.extend({ format: exportFormat }),
    data: none,
    file: exportTypes,
  }),
  importLicenses: endpoint({
    method: 'POST',
    path: '/licenses/import',
    access: 'owner',
    permission: 'licenses:write',
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
