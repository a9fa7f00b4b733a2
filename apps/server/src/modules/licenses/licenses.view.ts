import { type License, licenseStatus } from '@keyward/contract'
import { meets, type VendorActor } from '../../core/actor.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { accessEnd } from '../../db/stored-end.ts'
import type { AppRow, LicenseTypeRow, ResellerRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { NewLicense } from '../entitlements/license-rows.ts'
import { endFields, toTerms, updatesUntil } from '../entitlements/terms.rules.ts'
import type { LicenseView } from './licenses.repo.ts'
import { hintOf, toBuyReference, toTermsFields } from './licenses.rules.ts'

type Shown = Omit<LicenseView, 'seq'>

export const asNew = (
  license: NewLicense,
  app: Pick<AppRow, 'name' | 'app_id'>,
  type: Pick<LicenseTypeRow, 'name'> | undefined,
  reseller: Pick<ResellerRow, 'email'> | undefined,
  customer: string | null,
  mail: Pick<LicenseView, 'mail' | 'mail_waits_for'>,
): Shown => ({
  ...license,
  customer,
  client_id: null,
  used: 0,
  used_at: null,
  added: 0,
  key_twin: 0,
  updates_until: null,
  app_name: app.name,
  app_public_id: app.app_id,
  username: null,
  left_ms: null,
  reseller_email: reseller?.email ?? null,
  type_name: type?.name ?? null,
  ...mail,
})

export function toLicense({ seal }: Pick<Ctx, 'seal'>, row: Shown, now: number): License {
  return {
    _id: row.id,
    key: row.key,
    app: { _id: row.app_id, name: row.app_name, appId: row.app_public_id },
    status: licenseStatus(
      { banned: row.banned === 1, used: row.used === 1, endsAt: accessEnd(row, now) },
      now,
    ),
    used: row.used === 1,
    usedBy: row.client_id === null ? null : { _id: row.client_id, username: row.username ?? '' },
    usedAt: toIsoOrNull(row.used_at),
    added: row.added === 1,
    banned: row.banned === 1,
    banReason: row.ban_reason,
    note: row.note,
    test: row.test === 1,
    customer: row.customer,
    buyReference: toBuyReference(seal, row.id),
    mail: row.mail ?? 'none',
    mailWaitsFor: row.mail_waits_for,
    reseller: row.reseller_id === null ? null : { _id: row.reseller_id, email: row.reseller_email ?? '' },
    createdAt: toIso(row.created_at),
    ...endFields(row, now),
    ...toTerms(row),
    ...toTermsFields(row),
    updatesUntil: toIsoOrNull(updatesUntil(row)),
    type: row.type_id === null || row.type_name === null ? null : { _id: row.type_id, name: row.type_name },
  }
}

/** The same for a caller who may change licenses and not read them, who gets no key. */
export function toReadable(actor: VendorActor, license: License): License {
  const isReadable = meets(actor, { anyOf: ['licenses:read', 'licenses:write'] })
  return isReadable ? license : { ...license, key: hintOf(license.key), note: null }
}
