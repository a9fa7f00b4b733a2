import type { Module } from '../module.ts'
import { customerRecordsRoutes } from './customer-records.routes.ts'
import { startErasures } from './erasure-runner.ts'

export const customerRecords: Module = {
  // An erasure must find no address in what was delivered.
  objects: { customer: null },
  routes: customerRecordsRoutes,
  work: (parts) => startErasures(parts, { onError: parts.onError, pollMs: parts.options.deliveriesEveryMs }),
}
