import { inSlices } from '../../db/index.ts'
import type { Module } from '../module.ts'
import { takeFromCustomer } from './license-rows.ts'

export const entitlements: Module = {
  tables: {
    licenses: {},
    grants: {},
    clients: {},
    former_names: { key: ['app_id', 'digest'], isOfApp: true },
  },
  erasure: {
    person: (ctx, actor, { email, licenses }) =>
      inSlices(ctx, actor, async ({ tx }, size, at = 0) => {
        const license = licenses[at]
        if (license === undefined) return { found: 0, mark: at }
        await takeFromCustomer(tx, actor, license, email)
        return { found: size, changed: 1, mark: at + 1 }
      }),
  },
}
