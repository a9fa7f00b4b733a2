import type { Module } from '../module.ts'

export const sessions: Module = {
  tables: {
    owner_sessions: { key: ['id'], expires: 'expires_at' },
    reseller_sessions: { key: ['id'], expires: 'expires_at' },
    client_sessions: { key: ['id'], expires: 'expires_at', isOfApp: true },
  },
}
