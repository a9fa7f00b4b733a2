import { limits, type VersionsInUse } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import { day, toIso } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp } from '../apps/apps.service.ts'
import * as repo from './exposure.repo.ts'

/** Devices that were seen since then count as seen. */
const seenSince = (now: number): number => now - limits.unseenDays * day

export async function versionsInUse(ctx: Ctx, scope: OwnerScope, app: string): Promise<VersionsInUse> {
  const { id } = await getApp(ctx.db, scope, app)
  const since = seenSince(ctx.clock.now())
  const versions = await repo.listVersions(ctx.database.lists, id, since)
  const rest = await repo.countRest(ctx.database.lists, id, since)
  return {
    versions: versions.map(({ version, devices, last_seen_at }) => ({
      version,
      devices,
      lastSeenAt: toIso(last_seen_at),
    })),
    ...rest,
  }
}
