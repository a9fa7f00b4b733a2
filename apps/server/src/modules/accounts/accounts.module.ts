import type { Module } from '../module.ts'

export const accounts: Module = {
  tables: {
    accounts: {},
  },
  names: { acc: { kind: 'account', permission: 'audit:read' } },
}
