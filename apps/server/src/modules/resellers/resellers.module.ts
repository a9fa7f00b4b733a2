import type { Module } from '../module.ts'
import { resellersRoutes } from './resellers.routes.ts'
import { getReseller } from './resellers.service.ts'

export const resellers: Module = {
  tables: {
    resellers: { key: ['id'], isOfApp: true },
  },
  objects: {
    reseller: ({ ctx, maker, id }) => getReseller(ctx, maker, id),
  },
  names: {
    res: {
      kind: 'reseller',
      permission: 'resellers:read',
      column: ['resellers', 'email'],
      inDetail: 'email',
      deletion: 'reseller.deleted',
    },
  },
  routes: resellersRoutes,
}
