import { byId } from '../description.ts'
import type { Module } from '../module.ts'
import { releasesRoutes } from './releases.routes.ts'
import { listReleases } from './releases.service.ts'

export const releases: Module = {
  tables: {
    releases: {},
  },
  objects: {
    release: async ({ ctx, maker, id, appId }) => byId(await listReleases(ctx, maker, appId), id),
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
