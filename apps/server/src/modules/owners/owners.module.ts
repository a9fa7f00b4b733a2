import type { Module } from '../module.ts'

export const owners: Module = {
  tables: {
    owners: {},
  },
  names: { own: { kind: 'vendor', permission: 'audit:read' } },
}
