import { forgetInRecords } from '../../db/erasures.ts'
import type { Module } from '../module.ts'
import { forgetRecords, tidyAudit } from './audit.retention.ts'
import { auditRoutes } from './audit.routes.ts'

export const audit: Module = {
  tidy: tidyAudit,
  erasure: {
    written: forgetRecords,
    endUser: ({ tx }, { ownerId }, id, { texts }) => forgetInRecords(tx, ownerId, id, texts),
  },
  routes: auditRoutes,
}
