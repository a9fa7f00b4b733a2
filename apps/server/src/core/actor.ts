import {
  type CustomerKind,
  customPermissions,
  type Endpoint,
  isGranted,
  limits,
  type Needed,
  type Permission,
  type Role,
  rolePermissions,
} from '@keyward/contract'
import { minute } from './clock.ts'
import { problem } from './problem.ts'

/** The owner that rows belong to, for what has no app: the account, its plan, payments. */
export interface OfOwner {
  ownerId: string
}

/** The rows that a call may access; it comes from the session, never from the request. */
export interface OwnerScope extends OfOwner {
  /** The apps whose rows it may access; null for all. */
  apps: ReadonlySet<string> | null
  /** What else the caller may read: a search finds rows by no other text. */
  permissions?: ReadonlySet<Permission> | undefined
}

/** All rows of an owner, for the server's own work. */
export const allApps = (ownerId: string): OwnerScope => ({ ownerId, apps: null })

/** Whether rows of an app, or without one, are in the scope. */
export const sees = ({ apps }: Pick<OwnerScope, 'apps'>, appId: string | null): boolean =>
  apps === null || (appId !== null && apps.has(appId))

/** What the session of a request knows of its holder. */
interface Identity {
  /** The last proof of identity in this session, in milliseconds since 1970; signing in is one. */
  confirmedAt?: number | undefined
  /** Whether the holder has a second factor. */
  hasFactor?: boolean | undefined
}

interface OfRequest {
  /** The steps of a request with an Idempotency-Key, in which only `db` looks. */
  steps?: object | undefined
}

interface Vendor extends OwnerScope, OfRequest {
  /** Id of the person's account, or of the API key. */
  actorId: string
  permissions: ReadonlySet<Permission>
  /** Whether it is the owner in person, which no set of permissions replaces. */
  isOwner: boolean
  address: string
}

/** The owner, or a member of its team, signed in to the console. */
export interface PersonActor extends Vendor, Identity {
  kind: 'owner' | 'member'
  role: Role
  sessionId: string
  /** Whether the person has to add a second factor first, because the owner requires one. */
  lacksFactor?: boolean | undefined
}

/** A program of the vendor's own with an API key. */
export interface ApiKeyActor extends Vendor {
  kind: 'api_key'
  sessionId: null
}

/** A caller who manages an owner's data through the API. */
export type VendorActor = PersonActor | ApiKeyActor

/** A reseller, signed in to its portal; it acts on rows of the owner it belongs to. */
export interface ResellerActor extends Identity, OfRequest {
  kind: 'reseller'
  ownerId: string
  /** Its calls name its app themselves. */
  apps: null
  resellerId: string
  appId: string
  sessionId: string
  address: string
}

/** A person on the page of an app: with a license, as an end user, or as a customer with all it has in the app. */
export interface CustomerActor {
  kind: 'customer'
  ownerId: string
  /** The app of the page alone. */
  apps: ReadonlySet<string>
  appId: string
  /** The license, the end user or the customer that the session opens. */
  subject: { kind: CustomerKind; id: string }
  /** Whether a mailed link opened the session. */
  byMail: boolean
  sessionId: string
  /** When the session ends, in milliseconds since 1970. */
  endsAt: number
  address: string
}

/** A vendor's program with its session, if it has opened one. */
export interface ProgramActor {
  kind: 'program'
  ownerId: string
  /** Its calls name its app themselves. */
  apps: null
  appId: string
  sessionId: string | null
  address: string
}

/** A caller who names an account without proving to own it, to request a reset link. */
export interface AnonymousActor {
  kind: 'anonymous'
  /** Null for a person who belongs to no vendor account. */
  ownerId: string | null
  address: string
}

/** A person apart from any vendor account. */
export interface AccountActor {
  kind: 'account'
  ownerId: null
  actorId: string
  sessionId: string | null
  address: string
}

/** The payment provider, reporting on an order of this owner. */
export interface ProviderActor {
  kind: 'provider'
  ownerId: string
  provider: string
}

/** A shop, reporting on its orders. */
export interface ShopActor {
  kind: 'shop'
  ownerId: string
  /** Its work names its app itself. */
  apps: null
  shopId: string
}

/** The operator at the server's command line; `ownerId` is null for changes that concern all owners. */
interface OperatorActor {
  kind: 'operator'
  ownerId: string | null
}

/** The server itself; `ownerId` is null for its housekeeping, which belongs to no owner. */
export interface SystemActor {
  kind: 'system'
  ownerId: string | null
}

/** Who performs a write. */
export type Actor =
  | VendorActor
  | ResellerActor
  | CustomerActor
  | ProgramActor
  | AnonymousActor
  | AccountActor
  | ProviderActor
  | ShopActor
  | OperatorActor
  | SystemActor

const presets: Readonly<Record<Exclude<Role, 'custom'>, ReadonlySet<Permission>>> = {
  owner: new Set(rolePermissions.owner),
  manager: new Set(rolePermissions.manager),
  support: new Set(rolePermissions.support),
  viewer: new Set(rolePermissions.viewer),
}

/** The permissions of a role; those of `custom` are the named ones that such a role can have. */
export const permissionsOf = (role: Role, named: readonly string[] = []): ReadonlySet<Permission> =>
  role === 'custom'
    ? new Set(customPermissions.filter((permission) => named.includes(permission)))
    : presets[role]

/** What a person may do at a vendor account. */
export interface Access {
  role: Role
  permissions: ReadonlySet<Permission>
  /** Null for all apps. */
  apps: ReadonlySet<string> | null
}

export const ownerAccess: Access = { role: 'owner', permissions: presets.owner, apps: null }

/** The access that is stored of a person; undefined of one who neither owns the vendor account nor is a member. */
export function accessOf(
  isOwner: boolean,
  member: { role: Role; permissions: string | null; apps: string | null } | undefined,
): Access | undefined {
  if (isOwner) return ownerAccess
  if (!member) return undefined
  const { role, permissions, apps } = member
  return {
    role,
    permissions: permissionsOf(role, permissions === null ? [] : JSON.parse(permissions)),
    apps: apps === null ? null : new Set<string>(JSON.parse(apps)),
  }
}

/** A person, signed in to the console, at the vendor account of the session. */
export const toPersonActor = (
  { role, permissions, apps }: Access,
  session: { accountId: string; ownerId: string; sessionId: string; address: string } & Identity &
    Pick<PersonActor, 'lacksFactor'>,
): PersonActor => ({
  kind: role === 'owner' ? 'owner' : 'member',
  role,
  actorId: session.accountId,
  ownerId: session.ownerId,
  apps,
  permissions,
  isOwner: role === 'owner',
  sessionId: session.sessionId,
  address: session.address,
  confirmedAt: session.confirmedAt,
  hasFactor: session.hasFactor,
  lacksFactor: session.lacksFactor,
})

/** The owner may do everything. */
export const toOwnerActor = (session: Parameters<typeof toPersonActor>[1]): PersonActor =>
  toPersonActor(ownerAccess, session)

export const isVendor = (actor: Actor): actor is VendorActor =>
  actor.kind === 'owner' || actor.kind === 'member' || actor.kind === 'api_key'

/** Whether a person may do nothing but what concerns itself, until it has a second factor. */
export const lacksFactor = (actor: Actor): boolean => 'lacksFactor' in actor && actor.lacksFactor === true

/** The signed-in person behind a call that API keys may not make. */
export function personOf(actor: VendorActor): PersonActor {
  if (actor.kind === 'api_key') throw problem('api_key_not_allowed')
  return actor
}

/** Whether a call needs a person: no set of permissions of an API key replaces one. */
export const needsPerson = ({ permission, personal }: Pick<Endpoint, 'permission' | 'personal'>): boolean =>
  personal === true || permission === 'self' || permission === 'ownership'

/** Whether an actor meets what a call needs; calls of other actors than an owner's need nothing more. */
export function meets(actor: Actor, needed: Needed | undefined): boolean {
  if (needed === undefined || needed === 'self') return true
  if (!isVendor(actor)) return false
  if (needed === 'api_key') return actor.kind === 'api_key'
  if (needed === 'ownership') return actor.isOwner
  return isGranted(needed, (permission) => actor.permissions.has(permission))
}

/** Whether an actor may call what concerns all apps of its owner. */
export const hasAllApps = (actor: Actor): boolean => !isVendor(actor) || actor.apps === null

const validMs = limits.identityMinutes * minute

/** Throws 403 `confirm_identity` unless the person has proved recently who they are. API keys are never asked. */
export function requireProof(
  actor: VendorActor | ResellerActor,
  confirm: Endpoint['confirm'],
  now: number,
): void {
  if (confirm === undefined || actor.kind === 'api_key') return
  const { confirmedAt = Number.NEGATIVE_INFINITY, hasFactor = true } = actor
  if (confirm === 'with_factor' && !hasFactor) return
  // A proof from the future was made before the clock was set back.
  if (Math.abs(now - confirmedAt) >= validMs) throw problem('confirm_identity')
}

export const system: SystemActor = { kind: 'system', ownerId: null }

/** The columns that identify an actor in the audit log. */
export function toAuditColumns(actor: Actor) {
  const { sessionId = null, address = null } = actor as Partial<VendorActor>
  return { actor_kind: actor.kind, actor_id: idOf(actor), session_id: sessionId, address }
}

function idOf(actor: Actor): string {
  switch (actor.kind) {
    case 'owner':
    case 'member':
    case 'api_key':
    case 'account':
      return actor.actorId
    case 'reseller':
      return actor.resellerId
    case 'customer':
      return actor.subject.id
    case 'program':
      return actor.appId
    case 'anonymous':
      return 'anonymous'
    case 'provider':
      return actor.provider
    case 'shop':
      return actor.shopId
    case 'operator':
      return 'command line'
    case 'system':
      return 'server'
  }
}
