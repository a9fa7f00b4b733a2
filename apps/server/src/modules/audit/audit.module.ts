import type { Module } from '../module.ts'
import { tidyAudit } from './audit.retention.ts'
import { auditRoutes } from './audit.routes.ts'

export const audit: Module = {
  tidy: tidyAudit,
  routes: auditRoutes,
}
