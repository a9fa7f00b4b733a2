import { clientExport, endpoints, licenseExport } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import { changeEndUsers, undoEndUsers } from '../end-users/end-users.bulk.ts'
import { endUserSource } from '../end-users/end-users.service.ts'
import { changeLicenses, undoLicenses } from '../licenses/licenses.bulk.ts'
import { licenseListBy, licenseSource, toSearched } from '../licenses/licenses.service.ts'
import type { Parts } from '../module.ts'
import { toFileWithCustomers } from './export.customers.ts'
import { exportRows } from './export.service.ts'

export function bulkRoutes(mount: Mount, { ctx }: Parts): void {
  const { bulk } = endpoints
  mount(bulk.licenses, 'owner', async ({ actor, body }) => ({
    action: body.action,
    ...(await changeLicenses(ctx, actor, body)),
  }))
  mount(bulk.clients, 'owner', async ({ actor, body }) => ({
    action: body.action,
    ...(await changeEndUsers(ctx, actor, body)),
  }))
  mount(bulk.undoLicenses, 'owner', ({ actor, body }) => undoLicenses(ctx, actor, body.undo))
  mount(bulk.undoClients, 'owner', ({ actor, body }) => undoEndUsers(ctx, actor, body.undo))
  mount(bulk.exportLicenses, 'owner', async ({ actor, query: { format, ...query } }) => {
    const source = { ...licenseSource, list: licenseListBy(query.banned) }
    const search = toSearched(ctx, query.search)
    const slices = await exportRows(ctx, actor, source, { ...query, search })
    return toFileWithCustomers(ctx, actor, slices, { name: 'licenses', format, columns: licenseExport })
  })
  mount(bulk.exportClients, 'owner', async ({ actor, query: { format, ...query } }) => {
    const slices = await exportRows(ctx, actor, endUserSource, query)
    return toFileWithCustomers(ctx, actor, slices, { name: 'end-users', format, columns: clientExport })
  })
}
