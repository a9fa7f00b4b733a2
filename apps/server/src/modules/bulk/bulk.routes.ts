import { clientExport, endpoints, licenseExport } from '@keyward/contract'
import { WithMessage } from '../../core/answers.ts'
import type { Mount } from '../../http/mount.ts'
import type { Ctx } from '../../service/ctx.ts'
import { changeEndUsers } from '../end-users/end-users.bulk.ts'
import { endUserSource } from '../end-users/end-users.service.ts'
import { changeLicenses } from '../licenses/licenses.bulk.ts'
import { licenseSource } from '../licenses/licenses.service.ts'
import { toFile } from './export.file.ts'
import { exportRows } from './export.service.ts'
import { importLicenses } from './import.service.ts'

export function bulkRoutes(mount: Mount, ctx: Ctx): void {
  const { bulk } = endpoints
  mount(bulk.licenses, 'owner', async ({ actor, body }) => ({
    action: body.action,
    ...(await changeLicenses(ctx, actor, body)),
  }))
  mount(bulk.clients, 'owner', async ({ actor, body }) => ({
    action: body.action,
    ...(await changeEndUsers(ctx, actor, body)),
  }))
  mount(bulk.exportLicenses, 'owner', async ({ actor, query: { format, ...query } }) => {
    const slices = await exportRows(ctx, actor, licenseSource, query)
    return toFile(slices, { name: 'licenses', format, columns: licenseExport, now: ctx.clock.now() })
  })
  mount(bulk.exportClients, 'owner', async ({ actor, query: { format, ...query } }) => {
    const slices = await exportRows(ctx, actor, endUserSource, query)
    return toFile(slices, { name: 'end-users', format, columns: clientExport, now: ctx.clock.now() })
  })
  mount(bulk.importLicenses, 'owner', async ({ actor, body }) => {
    const result = await importLicenses(ctx, actor, body)
    if (result.dryRun) return result
    return new WithMessage(result, `${result.created} license(s) imported, ${result.skipped} skipped.`)
  })
}
