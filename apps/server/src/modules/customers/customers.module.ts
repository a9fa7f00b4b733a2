import type { Module } from '../module.ts'
import { erasureContext, loseKey } from './erasures.access.ts'

export const customers: Module = {
  tables: {
    customers: {},
    customer_faces: { key: ['seq'], isOfApp: true },
    erasures: {
      key: ['seq'],
      expires: 'expires_at',
      needs: ['customer_id'],
      sealed: { sealed: (_seq, { customer_id }) => erasureContext(String(customer_id)) },
    },
  },
  loseKey,
  names: { cus: { kind: 'customer', permission: 'clients:read' } },
}
