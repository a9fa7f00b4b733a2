import { system } from '../../core/actor.ts'
import { inSlices } from '../../db/index.ts'
import type { Module } from '../module.ts'
import { freeAllEnded } from './leased-places.access.ts'

export const devices: Module = {
  tables: {
    devices: {},
    former_versions: {},
    device_tokens: { key: ['id'], expires: 'expires_at' },
    leased_seats: { key: ['license_id', 'holder'], expires: 'until' },
  },
  tidy: (ctx) =>
    inSlices(ctx, system, async ({ tx }, size) => ({ found: await freeAllEnded(tx, ctx.clock.now(), size) })),
  names: { dev: { kind: 'device', permission: 'clients:read' } },
}
