import type { Permission } from '@keyward/contract'
import { type DeliveredName, eventFacts, testEvent } from '@keyward/contract'
import { accessOf, sees, toPersonActor, type VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { Db } from '../../db/index.ts'
import type { WebhookRow } from '../../db/tables.ts'

type MadeHook = Pick<WebhookRow, 'owner_id' | 'maker_kind' | 'maker_id'>

/** Who a webhook reads as: the columns that name its maker. */
export const toMaker = (actor: VendorActor): Pick<WebhookRow, 'maker_kind' | 'maker_id'> => ({
  maker_kind: actor.kind === 'api_key' ? 'api_key' : 'person',
  maker_id: actor.actorId,
})

/** Who has got the secret of a webhook. */
export const toKeeper = (actor: VendorActor): Pick<WebhookRow, 'keeper_kind' | 'keeper_id'> => {
  const { maker_kind: keeper_kind, maker_id: keeper_id } = toMaker(actor)
  return { keeper_kind, keeper_id }
}

/** Refuses what would give an actor without `secrets:write` the secret of somebody else, or the receiver that trusts it. */
export function requireKeeper(actor: VendorActor, row: WebhookRow): void {
  const { keeper_kind, keeper_id } = toKeeper(actor)
  const isKeeper = row.keeper_kind === keeper_kind && row.keeper_id === keeper_id
  if (!isKeeper && !actor.permissions.has('secrets:write')) throw problem('permission_missing')
}

/** The maker of a webhook with the rights that it has now; undefined once it has no access to the vendor's account. */
export const findMaker = (db: Db, hook: MadeHook, now: number): Promise<VendorActor | undefined> =>
  hook.maker_kind === 'person' ? findPerson(db, hook) : findApiKey(db, hook, now)

/** A delivery has no session and no address. */
const server = { sessionId: 'server', address: 'server' }

async function findPerson(db: Db, { owner_id, maker_id }: MadeHook): Promise<VendorActor | undefined> {
  const owner = await db
    .selectFrom('owners')
    .select('account_id')
    .where('id', '=', owner_id)
    .executeTakeFirst()
  const member = await db
    .selectFrom('members')
    .select(['role', 'permissions', 'apps'])
    .where('owner_id', '=', owner_id)
    .where('account_id', '=', maker_id)
    .executeTakeFirst()
  const access = owner && accessOf(owner.account_id === maker_id, member)
  return access && toPersonActor(access, { accountId: maker_id, ownerId: owner_id, ...server })
}

async function findApiKey(
  db: Db,
  { owner_id, maker_id }: MadeHook,
  now: number,
): Promise<VendorActor | undefined> {
  const key = await db
    .selectFrom('api_keys')
    .select(['permissions', 'apps'])
    .where('id', '=', maker_id)
    .where('owner_id', '=', owner_id)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirst()
  if (!key) return undefined
  return {
    kind: 'api_key',
    actorId: maker_id,
    ownerId: owner_id,
    apps: key.apps === null ? null : new Set<string>(JSON.parse(key.apps)),
    permissions: new Set<Permission>(JSON.parse(key.permissions)),
    isOwner: false,
    ...server,
    sessionId: null,
  }
}

/** Whether an actor may read an event: its noun, and its app. A test tells nothing. */
export const mayReadEvent = (
  actor: Pick<VendorActor, 'permissions' | 'apps'>,
  { event, appId }: { event: DeliveredName; appId: string | null },
): boolean =>
  event === testEvent || (actor.permissions.has(eventFacts(event).permission) && sees(actor, appId))
