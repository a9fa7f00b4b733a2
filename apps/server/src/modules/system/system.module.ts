import type { Module } from '../module.ts'
import { startHousekeeping } from './housekeeping.ts'
import { thinRecords } from './record-thinning.ts'
import { ScheduledBackups } from './scheduled-backups.ts'
import { systemRoutes } from './system.routes.ts'

export const system: Module = {
  tidy: thinRecords,
  parts: (parts) => ({ backups: new ScheduledBackups(parts, parts.options.backupOptions) }),
  routes: systemRoutes,
  work: (parts) => {
    const endHousekeeping = startHousekeeping(parts)
    parts.backups.start()
    return () => Promise.all([endHousekeeping(), parts.backups.end()])
  },
}
