import type { Module } from '../module.ts'
import { BlockTables } from './block-tables.ts'
import { blocklistRoutes } from './blocklist.routes.ts'

export const blocklist: Module = {
  parts: ({ ctx }) => ({ blocks: new BlockTables(ctx.database) }),
  routes: blocklistRoutes,
}
