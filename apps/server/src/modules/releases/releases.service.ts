import { limits, type Release } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { day, toEpochMs, toIso } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { Db } from '../../db/index.ts'
import type { ReleaseRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { lockApp } from '../apps/apps.access.ts'
import { getApp, raiseVersion } from '../apps/apps.service.ts'
import * as repo from './releases.repo.ts'

export async function listReleases(ctx: Ctx, scope: OwnerScope, app: string): Promise<Release[]> {
  const { id } = await getApp(ctx.db, scope, app)
  return (await repo.listReleases(ctx.db, id)).map(toRelease)
}

export interface NewRelease {
  version: string
  releasedAt: string
  link?: string | null | undefined
}

export async function addRelease(
  ctx: Ctx,
  actor: VendorActor,
  app: string,
  newRelease: NewRelease,
): Promise<Release> {
  const { id: appId } = await getApp(ctx.db, actor, app)
  const release = {
    id: newId('rel'),
    owner_id: actor.ownerId,
    app_id: appId,
    version: newRelease.version,
    released_at: toEpochMs(newRelease.releasedAt),
    link: newRelease.link ?? null,
    created_at: ctx.clock.now(),
  }
  const added = await ctx.tx(
    actor,
    async (write) => {
      if (!(await lockApp(write.tx, actor, appId))) throw problem('not_found')
      if (!(await repo.insertRelease(write.tx, release, limits.releasesMax))) throw problem('releases_full')
      const { version, released_at: releasedAt } = release
      write.record('release.added', release.id, { appId, version, releasedAt }, appId)
      // A release of today ends with its day.
      if (releasedAt < write.now + day) await raiseVersion(write, actor, appId, version)
      return release
    },
    { onTaken: () => problem('release_exists') },
  )
  return toRelease(added)
}

export async function removeRelease(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const removed = await repo.deleteRelease(write.tx, actor, id)
    if (!removed) throw problem('not_found')
    const { app_id: appId, version } = removed
    write.record('release.removed', id, { appId, version }, appId)
  })
}

/** When an app released the version of its program; null for a version that it does not list. */
export const findReleasedAt = async (
  db: Db,
  appId: string,
  version: string | null,
): Promise<number | null> =>
  version === null ? null : ((await repo.findReleasedAt(db, appId, version)) ?? null)

/** What the end of updates of a license covers of an app's releases. */
export async function findCovered(
  db: Db,
  app: { id: string; version: string },
  until: number | null,
): Promise<{ newestAt: number | null; last: string | null }> {
  if (until === null) return { newestAt: null, last: null }
  const newestAt = await findReleasedAt(db, app.id, app.version)
  return { newestAt, last: (await repo.findLastVersion(db, app.id, until)) ?? null }
}

const toRelease = (row: Omit<ReleaseRow, 'seq'>): Release => ({
  _id: row.id,
  version: row.version,
  releasedAt: toIso(row.released_at),
  link: row.link,
  createdAt: toIso(row.created_at),
})

/** Programs of another system pass the link to a shell. */
const unsafeInShells = /[\s"'`&|;<>^$()%\\]|[^\x20-\x7e]/

/** Where the current version of an app can be downloaded, if the link is one that a shell takes as one word; else empty. */
export async function downloadOf(db: Db, app: { id: string; version: string }): Promise<string> {
  const link = (await repo.findLink(db, app.id, app.version)) ?? ''
  return link.startsWith('https://') && !unsafeInShells.test(link) ? link : ''
}
