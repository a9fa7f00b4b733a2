import type { Module } from '../module.ts'

export const entitlements: Module = {
  tables: {
    licenses: {},
    grants: {},
    clients: {},
    former_names: { key: ['app_id', 'digest'], isOfApp: true },
  },
}
