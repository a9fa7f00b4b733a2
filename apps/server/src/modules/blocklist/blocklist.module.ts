import type { Module } from '../module.ts'
import { BlockTables } from './block-tables.ts'
import { blocklistRoutes } from './blocklist.routes.ts'

export const blocklist: Module = {
  tables: {
    blocklist: { key: ['id'], isOfApp: true },
    program_hashes: {},
  },
  parts: ({ ctx }) => ({ blocks: new BlockTables(ctx.database) }),
  routes: blocklistRoutes,
}
