import { sql } from 'kysely'
import { versionOrder } from '../../core/version-order.ts'
import type { Tx } from '../../db/index.ts'
import type { DeviceRow } from '../../db/tables.ts'

/** A call that names no version changes none. */
export const toVersionColumns = (
  version: string | null,
): Pick<DeviceRow, 'version' | 'version_order'> | object =>
  version === null ? {} : { version, version_order: versionOrder(version) }

/** A cracked program can send any version, so a device keeps those that it left last. */
const formerMax = 20

export async function setToldRelease(tx: Tx, deviceIds: readonly string[], releaseId: string): Promise<void> {
  await tx.updateTable('devices').set({ told_release: releaseId }).where('id', 'in', deviceIds).execute()
}

/** Remembers the versions of devices that run another one from now on. */
export async function leaveVersions(
  tx: Tx,
  devices: readonly Pick<DeviceRow, 'id' | 'app_id' | 'version_order'>[],
  until: number,
): Promise<void> {
  const rows = devices.flatMap(({ id, app_id, version_order }) =>
    version_order === null ? [] : [{ device_id: id, app_id, version_order, until }],
  )
  if (rows.length === 0) return
  await tx
    .insertInto('former_versions')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['device_id', 'version_order'])
        .doUpdateSet((eb) => ({ until: eb.ref('excluded.until') })),
    )
    .execute()
  await tx
    .deleteFrom('former_versions')
    .where(
      'device_id',
      'in',
      rows.map((row) => row.device_id),
    )
    .where(
      sql<boolean>`until < (select f.until from former_versions f where f.device_id = former_versions.device_id
        order by f.until desc limit 1 offset ${sql.lit(formerMax - 1)})`,
    )
    .execute()
}
