import {
  type Block,
  type BodyOf,
  type endpoints,
  isPlaceholderId,
  limits,
  type ProgramHash,
} from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId } from '../../core/ids.ts'
import { formatNetwork, parseNetwork } from '../../core/networks/networks.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { invalid, problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import type { Tx, WriteTransaction } from '../../db/index.ts'
import type { BlockKind } from '../../db/tables/apps.ts'
import type { BlockRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { bumpBlockVersion, getApp } from '../apps/apps.access.ts'
import { listPartsOf } from '../devices/devices.access.ts'
import { partMarksOf } from '../devices/devices.rules.ts'
import * as repo from './blocklist.repo.ts'

export async function listBlocks(ctx: Ctx, scope: OwnerScope, app: string, page: Page) {
  const { id } = await getApp(ctx.db, scope, app)
  const { rows, total } = await repo.pageBlocks(ctx.db, id, page)
  return { blocks: rows.map(toBlock), pagination: toPagination(page, total, false) }
}

export async function findBlock(ctx: Ctx, scope: OwnerScope, id: string): Promise<Block | undefined> {
  const row = await repo.findBlock(ctx.db, scope, id)
  return row && toBlock(row)
}

export type BlockEntry = BodyOf<typeof endpoints.blocklist.add>

export async function addBlock(ctx: Ctx, actor: VendorActor, app: string, block: BlockEntry): Promise<Block> {
  const normalized = normalize(block)
  const [row] = await ctx.tx(actor, async (write) => {
    const { id } = await getApp(write.tx, actor, app)
    return blockAll(write, actor, id, [normalized])
  })
  if (!row) throw problem('already_blocked')
  return toBlock(row)
}

/** Adds what is not on the list yet and is no placeholder, in the transaction of the caller, who has checked the app's owner. */
export async function blockAll(
  write: WriteTransaction,
  scope: OwnerScope,
  appId: string,
  found: readonly NormalizedBlock[],
): Promise<BlockRow[]> {
  const { tx, now } = write
  const normalizedBlocks = found.filter(({ kind, value }) => kind !== 'hwid' || !isPlaceholderId(value))
  if (normalizedBlocks.length === 0) return []
  // The app's row is locked from here on, so the count below holds until the commit.
  await bumpBlockVersion(tx, scope, appId)
  const blocks: repo.NewBlock[] = []
  for (const block of normalizedBlocks) {
    blocks.push({
      ...block,
      id: newId('blk'),
      owner_id: scope.ownerId,
      app_id: appId,
      marks: JSON.stringify(block.kind === 'hwid' ? await readMarks(tx, appId, block.value_key) : []),
      reason: block.reason || null,
      created_at: now,
    })
  }
  const added = await repo.insertBlocks(tx, blocks)
  if ((await repo.countBlocks(tx, appId)) > limits.blocklistMax) throw problem('blocklist_full')
  for (const { id, kind, value, reason } of added)
    write.record('block.added', id, { appId, kind, value, reason }, appId)
  return added
}

/** What recognizes the device after its hardware id has changed: the parts that are known now. */
async function readMarks(tx: Tx, appId: string, hwidHash: string): Promise<string[]> {
  const known = await listPartsOf(tx, appId, hwidHash)
  return [...new Set(known.flatMap(partMarksOf))]
}

export async function removeBlock(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const found = await repo.findBlock(write.tx, actor, id)
    if (!found) throw problem('not_found')
    await bumpBlockVersion(write.tx, actor, found.app_id)
    const removed = await repo.deleteBlock(write.tx, actor, id)
    if (!removed) throw problem('not_found')
    const { app_id: appId, kind, value } = removed
    write.record('block.removed', id, { appId, kind, value }, appId)
  })
}

export async function getHashes(ctx: Ctx, scope: OwnerScope, app: string): Promise<ProgramHash[]> {
  return repo.listHashes(ctx.db, (await getApp(ctx.db, scope, app)).id)
}

interface Hashes {
  hashes: readonly ProgramHash[]
}

/** Replaces the list, unless it is no longer the one that the caller saw. */
export async function setHashes(
  ctx: Ctx,
  actor: VendorActor,
  app: string,
  { hashes: builds, seen }: { hashes: readonly ProgramHash[]; seen?: Partial<Hashes> | undefined },
): Promise<ProgramHash[]> {
  const hashes = [...new Map(builds.map((one) => [`${one.version}\n${one.hash}`, one])).values()]
  return ctx.tx(actor, async (write) => {
    const { id } = await getApp(write.tx, actor, app)
    // Locks the app, so that two callers cannot mix their lists.
    await bumpBlockVersion(write.tx, actor, id)
    const before = await repo.listHashes(write.tx, id)
    if (seen && hasChanged({ hashes: before.map((one) => ({ ...one })) }, seen, { hashes }))
      throw problem('app_changed')
    await repo.replaceHashes(write.tx, id, hashes)
    const counts = { before: before.length, after: hashes.length }
    write.record('app.program_hashes_changed', id, counts, id)
    return hashes
  })
}

/** The hashes of an app that `init` accepts. */
export const listAllowedHashes = (ctx: Ctx, appId: string): Promise<ProgramHash[]> =>
  repo.listHashes(ctx.db, appId)

export interface NormalizedBlock {
  kind: BlockKind
  value: string
  value_key: string
  reason: string | null
}

/** Converts an entry to the form that is compared with a program's hardware id and address. */
export function normalize({ kind, value, reason = '' }: BlockEntry): NormalizedBlock {
  if (kind === 'hwid') return { kind, value, value_key: sha256(value.trim()), reason: reason || null }
  const network = parseNetwork(value)
  if (!network) {
    throw invalid('value', 'Must be an IP address, or a network of at most /8 (IPv4) or /16 (IPv6)')
  }
  const written = formatNetwork(network)
  return { kind, value: written, value_key: written, reason: reason || null }
}

const toBlock = (row: BlockRow): Block => ({
  _id: row.id,
  kind: row.kind,
  value: row.value,
  reason: row.reason,
  createdAt: toIso(row.created_at),
})
