import { auditExport, endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import { toFile } from '../bulk/export.file.ts'
import type { Parts } from '../module.ts'
import { exportRecords, listRecords } from './audit.service.ts'

export function auditRoutes(mount: Mount, parts: Parts): void {
  const { audit } = endpoints
  mount(audit.list, 'owner', ({ actor, query }) => listRecords(parts, actor, query))
  mount(audit.export, 'owner', async ({ actor, query: { format, ...query } }) => {
    const slices = await exportRecords(parts, actor, query)
    return toFile(slices, { name: 'audit', format, columns: auditExport, now: parts.ctx.clock.now() })
  })
}
