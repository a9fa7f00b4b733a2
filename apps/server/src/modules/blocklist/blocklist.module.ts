import type { Module } from '../module.ts'
import { BlockTables } from './block-tables.ts'
import { blocklistRoutes } from './blocklist.routes.ts'
import { findBlock } from './blocklist.service.ts'

export const blocklist: Module = {
  tables: {
    blocklist: { key: ['id'], isOfApp: true },
    program_hashes: {},
  },
  objects: {
    block: ({ ctx, maker, id }) => findBlock(ctx, maker, id),
  },
  names: {
    blk: {
      kind: 'block',
      permission: 'clients:read',
      column: ['blocklist', 'value'],
      inDetail: 'value',
      deletion: 'block.removed',
      isOfApp: true,
    },
  },
  parts: ({ ctx }) => ({ blocks: new BlockTables(ctx.database) }),
  routes: blocklistRoutes,
}
