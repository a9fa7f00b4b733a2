import { Outbound } from '../../service/outbound/outbound.ts'
import type { Module } from '../module.ts'
import { loseKey } from './lazy-move.repo.ts'
import { lazyMoveRoutes } from './lazy-move.routes.ts'
import { lazyMoveContext } from './lazy-move.service.ts'
import { LazyMoves } from './lazy-moves.ts'

/** How long an old provider may take to answer. */
const usualMs = 5000

export const lazyMove: Module = {
  tables: {
    lazy_moves: { key: ['app_id'], sealed: { secret_sealed: lazyMoveContext } },
  },
  loseKey,
  parts: ({ ctx, attempts, options }) => {
    const wholeMs = options.oldProviderMs ?? usualMs
    return {
      moves: new LazyMoves({ ctx, attempts, outbound: new Outbound(ctx.config, { waits: { wholeMs } }) }),
    }
  },
  routes: lazyMoveRoutes,
}
