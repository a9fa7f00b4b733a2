import { type BodyOf, type endpoints, limits, type Release } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toEpochMs } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import type { Db, Tx, WriteTransaction } from '../../db/index.ts'
import type { ReleaseRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { bumpReleasesVersion, getApp, lockApp } from '../apps/apps.access.ts'
import { lowerVersion, raiseVersion } from '../apps/apps.service.ts'
import * as repo from './releases.repo.ts'
import { isCurrent, isOut, outBefore, takesBackFix } from './releases.rules.ts'
import { bytesOf, changeOf, toColumns, toRelease } from './releases.view.ts'

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
  const id = newId('rel')
  const added = await ctx.tx(
    actor,
    async (write) => {
      const { tx, now } = write
      if (!(await lockApp(tx, actor, appId))) throw problem('not_found')
      const { version, releasedAt } = newRelease
      const blank = {
        ...{ id, owner_id: actor.ownerId, app_id: appId, version, released_at: toEpochMs(releasedAt) },
        ...{ link: null, channel: 'stable', updates_from: null, build: null, withdrawn_at: null, bytes: 0 },
        ...{ security: null, notes: null, artifacts: '[]', created_at: now },
      }
      const release = await withFix(write, { ...blank, ...toColumns(newRelease) })
      await repo.insertRelease(tx, release)
      await bumpReleasesVersion(tx, actor, appId)
      await checkRoom(tx, appId)
      write.record('release.added', id, { appId, version, releasedAt: release.released_at }, appId)
      if (isCurrent(release, now)) await raiseVersion(write, actor, appId, version)
      return release
    },
    { onTaken: () => problem('release_exists') },
  )
  return toRelease(added)
}

type ReleaseUpdate = BodyOf<(typeof endpoints)['releases']['update']>

export async function updateRelease(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { seen, ...update }: ReleaseUpdate,
): Promise<Release> {
  const updated = await ctx.tx(
    actor,
    async (write) => {
      const { tx, now } = write
      const before = await lockRelease(write, actor, id)
      if (seen && hasChanged({ ...toRelease(before) }, seen, update)) throw problem('release_changed')
      let after = { ...before, ...toColumns(update) }
      if (after.version !== before.version) after = await withFix(write, after)
      if (takesBackFix(before, after, now)) throw problem('security_kept')
      const change = changeOf(before, after)
      if (Object.keys(change.after).length === 0) return before
      after.bytes = bytesOf(after)
      const { seq: _, ...columns } = after
      await repo.updateRelease(tx, actor, id, columns)
      await bumpReleasesVersion(tx, actor, after.app_id)
      if (after.bytes > before.bytes) await checkRoom(tx, after.app_id)
      write.record('release.updated', id, change, after.app_id)
      await followVersion(write, actor, before, after)
      return after
    },
    { onTaken: () => problem('release_exists') },
  )
  return toRelease(updated)
}

export async function withdrawRelease(ctx: Ctx, actor: VendorActor, id: string): Promise<Release> {
  const withdrawn = await ctx.tx(actor, async (write) => {
    const before = await lockRelease(write, actor, id)
    if (before.withdrawn_at !== null) return before
    const after = { ...before, withdrawn_at: write.now }
    const { app_id: appId, version } = after
    await repo.updateRelease(write.tx, actor, id, { withdrawn_at: write.now })
    await bumpReleasesVersion(write.tx, actor, appId)
    write.record('release.withdrawn', id, { appId, version }, appId)
    await followVersion(write, actor, before, after)
    return after
  })
  return toRelease(withdrawn)
}

/** A version that was removed with a security fix has it again once it is listed, from a date that has come. */
async function withFix<R extends repo.NewRelease>({ tx, now }: WriteTransaction, release: R): Promise<R> {
  const fix = await repo.takeFix(tx, release.app_id, release.version)
  if (fix !== undefined && !isOut(release, now)) throw problem('security_kept')
  const whole = { ...release, security: release.security ?? fix ?? null }
  return { ...whole, bytes: bytesOf(whole) }
}

/** Lowers and raises the version of an app after a change of a release. */
async function followVersion(
  write: WriteTransaction,
  actor: VendorActor,
  before: ReleaseRow,
  after: ReleaseRow,
): Promise<void> {
  const [was, is] = [isCurrent(before, write.now), isCurrent(after, write.now)]
  if (was && !(is && before.version === after.version)) {
    const others = await repo.listStable(write.tx, after.app_id, outBefore(write.now))
    await lowerVersion(write, actor, after.app_id, { current: before.version, others })
  }
  if (is) await raiseVersion(write, actor, after.app_id, after.version)
}

/** Refuses more releases, or longer ones, than an app can have. */
async function checkRoom(tx: Tx, appId: string): Promise<void> {
  const { count, bytes } = await repo.measure(tx, appId)
  if (count > limits.releasesMax) throw problem('releases_full')
  if (bytes > limits.releasesBytesMax) throw problem('releases_too_large')
}

export async function removeRelease(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const release = await lockRelease(write, actor, id)
    const { app_id: appId, version, security } = release
    await repo.deleteRelease(write.tx, actor, id)
    await bumpReleasesVersion(write.tx, actor, appId)
    if (security !== null && isOut(release, write.now)) {
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

/** Programs of another system pass the link to a shell. */
const unsafeInShells = /[\s"'`&|;<>^$()%\\]|[^\x20-\x7e]/

/** Where the current version of an app can be downloaded, if the link is one that a shell takes as one word; else empty. */
export async function downloadOf(db: Db, app: { id: string; version: string }): Promise<string> {
  const link = (await repo.findLink(db, app.id, app.version)) ?? ''
  return link.startsWith('https://') && !unsafeInShells.test(link) ? link : ''
}
