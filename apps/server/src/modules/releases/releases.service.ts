import { type BodyOf, type endpoints, limits, type Release } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toEpochMs } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { Db, Tx, WriteTransaction } from '../../db/index.ts'
import type { ReleaseRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { lockApp } from '../apps/apps.access.ts'
import { getApp, raiseVersion } from '../apps/apps.service.ts'
import * as repo from './releases.repo.ts'
import { isOut } from './releases.rules.ts'
import { toRelease } from './releases.view.ts'

export async function listReleases(ctx: Ctx, scope: OwnerScope, app: string): Promise<Release[]> {
  const { id } = await getApp(ctx.db, scope, app)
  return (await repo.listReleases(ctx.db, id)).map(toRelease)
}

/** What the API shows of a release; undefined if the owner has none of this id. */
export async function findRelease(db: Db, scope: OwnerScope, id: string): Promise<Release | undefined> {
  const row = await repo.findRelease(db, scope, id)
  return row && toRelease(row)
}

type NewRelease = BodyOf<(typeof endpoints)['releases']['add']>

export async function addRelease(
  ctx: Ctx,
  actor: VendorActor,
  app: string,
  newRelease: NewRelease,
): Promise<Release> {
  const { id: appId } = await getApp(ctx.db, actor, app)
  const { version } = newRelease
  const releasedAt = toEpochMs(newRelease.releasedAt)
  const id = newId('rel')
  const added = await ctx.tx(
    actor,
    async (write) => {
      const { tx, now } = write
      if (!(await lockApp(tx, actor, appId))) throw problem('not_found')
      const removedFix = await repo.takeFix(tx, appId, version)
      // Whoever listed it as a fix has told customers to use this version.
      if (removedFix !== undefined && !isOut(releasedAt, now)) throw problem('security_kept')
      const channel = newRelease.channel ?? 'stable'
      const security = newRelease.security ? JSON.stringify(newRelease.security) : (removedFix ?? null)
      const release = withBytes({
        ...{
          id,
          owner_id: actor.ownerId,
          app_id: appId,
          version,
          released_at: releasedAt,
          channel,
          security,
        },
        link: newRelease.link ?? null,
        updates_from: newRelease.updatesFrom ?? null,
        build: newRelease.build ?? null,
        withdrawn_at: null,
        notes: newRelease.notes ?? null,
        artifacts: JSON.stringify(newRelease.artifacts ?? []),
        created_at: now,
      })
      await repo.insertRelease(tx, release)
      await checkRoom(tx, appId)
      write.record('release.added', id, { appId, version, releasedAt }, appId)
      if (channel === 'stable' && isOut(releasedAt, now)) await raiseVersion(write, actor, appId, version)
      return release
    },
    { onTaken: () => problem('release_exists') },
  )
  return toRelease(added)
}

const withBytes = <R extends Pick<ReleaseRow, 'security' | 'notes' | 'artifacts'>>(row: R) => ({
  ...row,
  bytes: Buffer.byteLength(`${row.security ?? ''}${row.notes ?? ''}${row.artifacts}`),
})

/** Refuses more releases, or longer ones, than an app can have. */
async function checkRoom(tx: Tx, appId: string): Promise<void> {
  const { count, bytes } = await repo.measure(tx, appId)
  if (count > limits.releasesMax) throw problem('releases_full')
  if (bytes > limits.releasesBytesMax) throw problem('releases_too_large')
}

export async function removeRelease(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const { app_id: appId, version, released_at: releasedAt, security } = await lockRelease(write, actor, id)
    await repo.deleteRelease(write.tx, actor, id)
    if (security !== null && isOut(releasedAt, write.now)) {
      await repo.keepFix(write.tx, { app_id: appId, version, security })
    }
    write.record('release.removed', id, { appId, version }, appId)
  })
}

/** Reads a release once its app is locked, as all that changes releases does. */
async function lockRelease({ tx }: WriteTransaction, actor: VendorActor, id: string): Promise<ReleaseRow> {
  const seen = await repo.findRelease(tx, actor, id)
  if (seen) await lockApp(tx, actor, seen.app_id)
  const release = seen && (await repo.findRelease(tx, actor, id))
  if (!release) throw problem('not_found')
  return release
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

/** Programs of another system pass the link to a shell. */
const unsafeInShells = /[\s"'`&|;<>^$()%\\]|[^\x20-\x7e]/

/** Where the current version of an app can be downloaded, if the link is one that a shell takes as one word; else empty. */
export async function downloadOf(db: Db, app: { id: string; version: string }): Promise<string> {
  const link = (await repo.findLink(db, app.id, app.version)) ?? ''
  return link.startsWith('https://') && !unsafeInShells.test(link) ? link : ''
}
