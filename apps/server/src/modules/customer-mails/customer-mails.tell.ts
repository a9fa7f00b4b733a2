import { newId } from '../../core/ids.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import * as repo from './customer-mails.repo.ts'
import { securityMs, soonMs } from './customer-mails.rules.ts'

/** The license of an order, as it is after what is told of. */
export type ToldLicense = Pick<
  LicenseRow,
  'id' | 'owner_id' | 'app_id' | 'customer_id' | 'expires_at' | 'grace_days'
>

export interface ToldOrder {
  id: string
  number: string
}

/** Tells the customer of a license that an order with a reference has renewed it, once for each order. */
export async function tellRenewed(
  write: WriteTransaction,
  license: ToldLicense,
  order: ToldOrder,
): Promise<void> {
  const { renewed } = await repo.readSettings(write.tx, license.app_id)
  if (renewed)
    await tell(write, 'renewed', license, order, { subject: `${license.id} ${order.id}`, until: 0 })
}

/** Tells the customer of a license that a payment of its subscription failed, once for each end that it leaves. */
export async function tellPaymentFailed(
  write: WriteTransaction,
  license: ToldLicense,
  order: ToldOrder,
): Promise<void> {
  const { paymentFailed } = await repo.readSettings(write.tx, license.app_id)
  const until = displayedEnd(license, write.now) ?? never
  if (paymentFailed) await tell(write, 'paymentFailed', license, order, { subject: license.id, until })
}

async function tell(
  write: WriteTransaction,
  kind: 'renewed' | 'paymentFailed',
  license: ToldLicense,
  { number: order }: ToldOrder,
  about: { subject: string; until: number },
): Promise<void> {
  const { id: license_id, owner_id, app_id, customer_id } = license
  if (customer_id === null) return
  await repo.insertMails(write.tx, [
    {
      ...{ id: newId('cml'), owner_id, app_id, customer_id, license_id, kind, ...about },
      ...{ days: 0, detail: JSON.stringify({ order }) },
      ...{ state: 'waiting', ends_at: write.now + soonMs, created_at: write.now },
    },
  ])
  write.queues.add('customer mails')
}

/** What a mail about a release with `security` says. */
export interface SecurityNews {
  id: string
  owner_id: string
  app_id: string
  version: string
  summary: string | null
  link: string | null
}

/** Tells customers of a release with `security`, each once for each release. */
export async function tellSecurity(
  write: WriteTransaction,
  { id, owner_id, app_id, version, summary, link }: SecurityNews,
  customers: readonly string[],
): Promise<void> {
  const detail = JSON.stringify({ version, summary, link })
  await repo.insertMails(
    write.tx,
    customers.map((customer_id) => ({
      ...{
        id: newId('cml'),
        owner_id,
        app_id,
        customer_id,
        license_id: null,
        subject: `${id} ${customer_id}`,
      },
      ...{ kind: 'security' as const, until: 0, days: 0, detail, state: 'waiting' as const },
      ...{ ends_at: write.now + securityMs, created_at: write.now },
    })),
  )
  if (customers.length > 0) write.queues.add('customer mails')
}
