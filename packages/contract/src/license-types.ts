import { z } from 'zod'
import { typeLinks } from './buy-links.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { termsDefaults, termsFields } from './license-terms.ts'
import { id, idParams, isoTime, none, seenValues, text } from './shared.ts'
import { duration, licenseTerm } from './terms.ts'

const fields = {
  name: text(1, 60, 'Name'),
  term: licenseTerm.describe('date: the duration counts from creation; first_use: from the first use'),
  duration: duration.nullable().describe('null for forever, else required'),
  ...termsFields,
  keyPrefix: z
    .string()
    .trim()
    .max(16, { error: 'A key prefix has 1 to 16 letters and digits', abort: true })
    .regex(/^[A-Za-z0-9]+$/, 'A key prefix has 1 to 16 letters and digits')
    .nullable()
    .describe('generated keys start with it'),
  resellable: z.boolean().describe('resellers of the app may generate licenses of this type'),
  ...typeLinks,
  fallbackAfterMonths: z
    .int()
    .min(1)
    .max(limits.fallbackMonthsMax)
    .nullable()
    .describe('after so many paid months a subscription that ends leaves a license without end; null: never'),
}

/** The terms that the licenses of one kind are generated with. */
export const licenseType = z.strictObject({ _id: z.string(), ...fields, createdAt: isoTime })

const optional = {
  duration: fields.duration.default(null),
  graceDays: fields.graceDays.default(termsDefaults.graceDays),
  devices: fields.devices.default(termsDefaults.devices),
  seats: fields.seats.default(termsDefaults.seats),
  seatTimeoutSeconds: fields.seatTimeoutSeconds.default(termsDefaults.seatTimeoutSeconds),
  features: fields.features.default(termsDefaults.features),
  updatesForDays: fields.updatesForDays.default(termsDefaults.updatesForDays),
  trial: fields.trial.default(termsDefaults.trial),
  keyPrefix: fields.keyPrefix.default(null),
  resellable: fields.resellable.default(false),
  buyUrl: fields.buyUrl.default(null),
  renewUrl: fields.renewUrl.default(null),
  upgrades: fields.upgrades.default([]),
  fallbackAfterMonths: fields.fallbackAfterMonths.default(null),
}

const durationRule = {
  path: ['duration'],
  message: 'A license that never expires has no duration; every other one requires it',
}
const durationFits = ({ term, duration }: { term: string; duration: unknown }) =>
  (term === 'forever') === (duration === null)

const oneType = z.strictObject({ licenseType })
const tag = 'License types'

export const licenseTypes = {
  list: endpoint({
    method: 'GET',
    path: '/apps/:id/license-types',
    access: 'owner',
    permission: 'licenses:read',
    tag,
    summary: `List the license types of an app, oldest first; an app has at most ${limits.licenseTypesMax}`,
    params: idParams,
    data: z.strictObject({
      licenseTypes: z.array(
        licenseType.extend({
          licenses: z
            .int()
            .describe(`generated from it and not deleted, counted up to ${limits.searchCountMax}`),
        }),
      ),
    }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/apps/:id/license-types',
    access: 'owner',
    permission: 'licenses:write',
    bodyLimit: 65_536,
    tag,
    summary: 'Create a license type; licenses generated from it keep what they were sold with',
    params: idParams,
    body: z.strictObject({ ...fields, ...optional }).refine(durationFits, durationRule),
    data: oneType,
    status: 201,
    errors: ['type_name_taken', 'license_types_full'],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/license-types/:id',
    access: 'owner',
    permission: 'licenses:write',
    bodyLimit: 131_072,
    job: true,
    tag,
    summary:
      'Change a license type; omitted fields stay unchanged. With applyTo all, sold licenses get its devices, seats, features, grace and updates, and those that were not started its term',
    params: idParams,
    body: z
      .strictObject(fields)
      .partial()
      .extend({ applyTo: z.enum(['new', 'all']).default('new'), seen: seenValues(fields) }),
    data: oneType.extend({ changedLicenses: z.int() }),
    errors: ['type_name_taken', 'license_type_changed'],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/license-types/:id',
    access: 'owner',
    permission: 'licenses:write',
    tag,
    summary: 'Delete a license type; its licenses stay as they were sold',
    params: z.object({ id }),
    data: none,
  }),
}

export type LicenseType = z.output<typeof licenseType>
