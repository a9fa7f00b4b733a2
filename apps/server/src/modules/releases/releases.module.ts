import type { Module } from '../module.ts'
import { releasesRoutes } from './releases.routes.ts'
import { findRelease } from './releases.service.ts'

export const releases: Module = {
  tables: {
    releases: {},
    removed_fixes: {},
    release_days: {},
    told_devices: {},
    told_customers: {},
    release_notices: { key: ['owner_id', 'release_id'], expires: 'expires_at' },
  },
  objects: {
    release: ({ ctx, maker, id }) => findRelease(ctx.db, maker, id),
  },
  names: {
    rel: {
      kind: 'release',
      permission: 'apps:read',
      column: ['releases', 'version'],
      inDetail: 'version',
      deletion: 'release.removed',
      isOfApp: true,
    },
  },
  routes: releasesRoutes,
}
