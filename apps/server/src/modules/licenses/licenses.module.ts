import type { Module } from '../module.ts'
import { keyMails } from './licenses.mail.ts'
import { licensesRoutes } from './licenses.routes.ts'
import { getLicense } from './licenses.service.ts'

export const licenses: Module = {
  tables: { license_mails: { key: ['license_id'], isOfApp: true } },
  objects: {
    license: ({ ctx, maker, id }) => getLicense(ctx, maker, id),
    // It concerns many objects.
    licenses: null,
  },
  mails: { kml: keyMails },
  names: {
    lic: {
      kind: 'license',
      permission: 'licenses:read',
      column: ['licenses', 'key'],
      inDetail: 'hint',
      deletion: 'license.deleted',
    },
  },
  routes: licensesRoutes,
}
