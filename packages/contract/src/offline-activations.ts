import { z } from 'zod'
import { client } from './clients.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { id, idParams, isoTime, pageQuery, pagination, userRef } from './shared.ts'

/**
 * `active`: the file runs and its device is taken. `ended`: the file has ended. `replaced`: the machine got a newer file.
 * `freed`: the device was freed while the file could still run. `deactivated`: the code proved that it runs no more.
 */
const status = z.enum(['active', 'ended', 'replaced', 'freed', 'deactivated'])

/** A machine that is never online and runs with a file. */
const activation = z.strictObject({
  _id: z.string(),
  client: userRef,
  username: z.string(),
  licenseKey: z.string().nullable(),
  device: z.strictObject({ _id: z.string(), name: z.string().nullable() }).nullable(),
  hwidHash: z.string().describe('SHA-256 of the hardware id'),
  status,
  until: isoTime.nullable().describe('when the file ends; null for never'),
  createdAt: isoTime,
  issuedAt: isoTime.describe('when the latest file for this request was made'),
  endedAt: isoTime.nullable(),
})

export const offlineRequestText = z
  .string()
  .trim()
  .min(1, 'Request is required')
  .max(4000, 'This is no activation request: it is too long')

export const deactivationCode = z
  .string()
  .trim()
  .min(1, 'Code is required')
  .max(100, 'This is no code: it is too long')

export const activationDays = z
  .int('Must be a whole number of days')
  .min(1, 'Must be at least 1 day')
  .max(limits.activationFileDaysMax, `Can be at most ${limits.activationFileDaysMax} days`)

const tag = 'Machines that are never online'

export const offlineActivations = {
  list: endpoint({
    method: 'GET',
    path: '/apps/:id/offline-activations',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary: 'List the machines of an app that run with a file, newest first',
    params: idParams,
    query: pageQuery.extend({ client: id.optional().describe('the `_id` of an end user') }),
    data: z.strictObject({ activations: z.array(activation), pagination }),
  }),
  activate: endpoint({
    method: 'POST',
    path: '/apps/:id/offline-activations',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary:
      'Make the file with which a machine runs without a connection; its checks are those of a sign-in by key, and it takes a device',
    params: idParams,
    body: z.strictObject({
      request: offlineRequestText.describe('the text that starts with `KWR1-`'),
      days: activationDays
        .optional()
        .describe('how long the file lasts at most; without it, until the license ends'),
    }),
    data: z.strictObject({
      file: z.string().describe('one JWS per line, for each key of the app that is not revoked'),
      activation,
      client,
    }),
    status: 201,
    errors: ['offline_refused', 'offline_floating', 'offline_request_used', 'plan_limit_reached'],
  }),
  deactivate: endpoint({
    method: 'POST',
    path: '/apps/:id/offline-deactivations',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary: 'Free the device of a machine that has forgotten its file and shows the code that proves it',
    params: idParams,
    body: z.strictObject({ code: deactivationCode.describe('the text that starts with `KWD1-`') }),
    data: z.strictObject({ activation, client }),
    errors: ['offline_code_used', 'offline_code_replaced'],
  }),
}

export type OfflineActivation = z.output<typeof activation>
export type OfflineActivationStatus = z.output<typeof status>
