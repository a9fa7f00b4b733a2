import { setImmediate } from 'node:timers/promises'
import { type LicenseDetails, licenseDetails } from '@keyward/contract'
import type { CompiledQuery } from 'kysely'
import { newId, newLicenseKey, normalizeKey } from '../../core/ids.ts'
import type { Db, Tx } from '../../db/index.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { insertOfLicenses, type NewLicense } from '../entitlements/license-rows.ts'
import type { LicenseTerms } from './licenses.rules.ts'

export interface Ban {
  reason: string | null
}

/** The fields in which new licenses differ; without a key, one is generated. */
export interface LicenseDraft extends LicenseDetails {
  key?: string | undefined
  /** The prefix of a generated key. */
  keyPrefix?: string | null | undefined
  terms: LicenseTerms
  ban?: Ban | null | undefined
}

/** The account that the new licenses belong to, and an app that the caller knows to be the owner's. */
export interface Issuer {
  ownerId: string
  appId: string
  resellerId?: string | undefined
  customerId?: string | null | undefined
  /** Whether a test order creates them. */
  test?: LicenseRow['test']
  now: number
}

/** Larger statements take long to build. */
const sliceSize = 200
const draftedAtOnce = 200

/**
 * Inserts licenses in the caller's transaction, which has reserved their number, and returns them in order.
 * Throws a unique violation when a key is taken in the app.
 */
export async function issueLicenses(
  tx: Tx,
  issuer: Issuer,
  drafts: readonly LicenseDraft[],
): Promise<NewLicense[]> {
  const rows = await draftLicenses(issuer, drafts)
  for await (const insert of insertsOf(tx, rows)) await tx.executeQuery(insert)
  return rows
}

/** Makes the rows of new licenses, with the keys that they will have. */
export async function draftLicenses(issuer: Issuer, drafts: readonly LicenseDraft[]): Promise<NewLicense[]> {
  const rows: NewLicense[] = []
  for (const draft of drafts) {
    if (rows.length > 0 && rows.length % draftedAtOnce === 0) await setImmediate()
    rows.push(toRow(issuer, draft))
  }
  return rows
}

export async function* insertsOf(db: Db, rows: readonly NewLicense[]): AsyncGenerator<CompiledQuery> {
  for (let at = 0; at < rows.length; at += sliceSize) {
    // Lets other requests run while a long list is built.
    if (at > 0) await setImmediate()
    yield insertOfLicenses(db, rows.slice(at, at + sliceSize))
  }
}

function toRow(issuer: Issuer, draft: LicenseDraft): NewLicense {
  const key = draft.key ?? (draft.keyPrefix ? `${draft.keyPrefix}-${newLicenseKey()}` : newLicenseKey())
  return {
    id: newId('lic'),
    owner_id: issuer.ownerId,
    app_id: issuer.appId,
    reseller_id: issuer.resellerId ?? null,
    customer_id: issuer.customerId ?? null,
    key,
    key_normalized: normalizeKey(key),
    ...toDetails(draft),
    ...draft.terms,
    banned: draft.ban ? 1 : 0,
    ban_reason: draft.ban?.reason ?? null,
    test: issuer.test ?? 0,
    created_at: issuer.now,
  }
}

const detailNames = Object.keys(licenseDetails) as (keyof LicenseDetails)[]

const toDetails = (draft: LicenseDraft) =>
  Object.fromEntries(detailNames.map((name) => [name, draft[name] || null])) as Record<
    keyof LicenseDetails,
    string | null
  >
