import type { PartName } from '@keyward/contract'
import { hashPart } from '../src/modules/devices/devices.rules.ts'
import type { TestServer } from './harness.ts'

type App = { appId: string }

/** Raw values of parts, hashed for an app as the SDK does. */
export const sentParts = ({ appId }: App, values: { [Name in PartName]?: string }) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, hashPart(appId, name as PartName, value)]),
  )

/** Changes the terms of a license. */
export async function setLicense(
  on: TestServer,
  license: { _id: string },
  change: { devices?: number; seats?: number | null; seat_timeout_seconds?: number },
): Promise<void> {
  await on.database.db.updateTable('licenses').set(change).where('id', '=', license._id).execute()
}
