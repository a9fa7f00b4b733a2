import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import {
  exportFormat,
  exportTypes,
  idParams,
  isoTime,
  none,
  pageQuery,
  pagination,
  version,
} from './shared.ts'

const unseen = z.int().describe(`those that were not seen for ${limits.unseenDays} days`)

const exposedCustomer = z.strictObject({
  _id: z.string(),
  email: z.string(),
  devices: z.int().describe('affected devices, also those that were not seen for long'),
  lastSeenAt: isoTime.describe('when one of them was seen last'),
  toldAt: isoTime.nullable().describe('when it was mailed about this release'),
})

const tag = 'Releases'
const read = ['releases:read', 'clients:read'] as const

export const exposure = {
  versions: endpoint({
    method: 'GET',
    path: '/apps/:id/versions',
    access: 'owner',
    permission: { anyOf: ['releases:read', 'releases:write', 'apps:read'] },
    tag,
    summary: `List the versions that run on bound devices by their last sign-in or \`session\`, newest first: the ${limits.versionsMax} on most devices`,
    params: idParams,
    data: z.strictObject({
      versions: z.array(z.strictObject({ version: z.string(), devices: z.int(), lastSeenAt: isoTime })),
      unknown: z.int().describe('devices whose version no program has named yet'),
      unseen,
    }),
  }),
  refused: endpoint({
    method: 'GET',
    path: '/apps/:id/versions/refused',
    access: 'owner',
    permission: { anyOf: ['releases:read', 'releases:write', 'apps:read'] },
    tag,
    summary: 'Count the bound devices whose version the setting `minimumVersion` refuses, or would refuse',
    params: idParams,
    query: z.object({ minimumVersion: version }),
    data: z.strictObject({ devices: z.int() }),
  }),
  get: endpoint({
    method: 'GET',
    path: '/releases/:id/exposure',
    access: 'owner',
    permission: 'releases:read',
    tag,
    summary: 'Count the bound devices that a release with `security` repairs',
    params: idParams,
    data: z.strictObject({
      devices: z.int().describe('bound devices that run an affected version'),
      repaired: z
        .int()
        .describe('bound devices that ran an affected version since the release, and run another one now'),
      unseen: z.int().describe(`affected devices that were not seen for ${limits.unseenDays} days`),
      unknown: z.int().describe('bound devices whose version is not known, or is not three numbers'),
      versions: z
        .array(z.strictObject({ version: z.string(), devices: z.int() }))
        .describe(`the affected versions, newest first: the ${limits.versionsMax} on most devices`),
      days: z
        .array(z.strictObject({ date: z.iso.date(), devices: z.int() }))
        .describe(
          `the affected devices at the end of each UTC day until none was exposed for ${limits.quietDays} days, for five years; the last one is today`,
        ),
      told: z
        .strictObject({ devices: z.int(), customers: z.int() })
        .describe(
          'devices whose program got the advisory, and customers who were mailed, also those since deleted',
        ),
    }),
    errors: ['release_repairs_nothing'],
  }),
  customers: endpoint({
    method: 'GET',
    path: '/releases/:id/exposure/customers',
    access: 'owner',
    permission: read,
    tag,
    summary: 'List the customers who have devices with an affected version, newest first',
    params: idParams,
    query: pageQuery,
    data: z.strictObject({ customers: z.array(exposedCustomer), pagination }),
    errors: ['release_repairs_nothing'],
  }),
  exportCustomers: endpoint({
    method: 'GET',
    path: '/releases/:id/exposure/customers/export',
    access: 'owner',
    permission: read,
    job: true,
    tag,
    summary: 'Export the customers who have devices with an affected version as a file, newest first',
    params: idParams,
    query: z.object({ format: exportFormat }),
    data: none,
    file: exportTypes,
    errors: ['release_repairs_nothing'],
  }),
  notify: endpoint({
    method: 'POST',
    path: '/releases/:id/notify',
    access: 'owner',
    permission: 'releases:write',
    dryRun: true,
    job: true,
    tag,
    summary: `Mail each customer who has an affected device, once for each release; at most ${limits.releaseNoticesPerWeek} releases within a week. Mails of premium vendors do not count as mails of the day`,
    params: idParams,
    body: z.strictObject({ dryRun: z.boolean().optional().describe('only count') }),
    data: z.strictObject({
      customers: z.int().describe('who are mailed now, or would be'),
      told: z.int().describe('who have an affected device and were mailed before'),
      unreachable: z.int().describe('affected devices without a customer'),
    }),
    errors: ['release_repairs_nothing', 'release_not_out', 'notices_used_up', 'mail_off'],
  }),
  evidence: endpoint({
    method: 'GET',
    path: '/releases/:id/evidence',
    access: 'owner',
    permission: read,
    job: true,
    tag,
    summary: `Get who was told of a security fix and when, as a JSON Web Signature by the app's key: each day's numbers, the devices whose programs got the advisory (the last ${limits.evidenceRowsMax}) and the customers who were mailed (as many)`,
    params: idParams,
    data: none,
    file: ['application/jose'],
    errors: ['release_repairs_nothing'],
  }),
}

export type VersionsInUse = z.output<(typeof exposure.versions)['data']>
export type Exposure = z.output<(typeof exposure.get)['data']>
export type ExposedCustomer = z.output<typeof exposedCustomer>
