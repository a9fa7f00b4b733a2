import type { Module } from '../module.ts'
import { loseKey } from './customer-sessions.access.ts'

export const customerSessions: Module = {
  tables: {
    customer_sessions: { key: ['id'], expires: 'expires_at', isOfApp: true },
    customer_links: { key: ['id'], expires: 'expires_at', isOfApp: true },
  },
  loseKey,
}
