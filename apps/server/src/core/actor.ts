import { type Permission, permissions, type Requirement } from '@keyward/contract'

/** The owner whose rows a call may access; it comes from the session, never from the request. */
export interface OwnerScope {
  ownerId: string
}

/** What an actor may do who manages an owner's data. */
interface Allowed {
  permissions: ReadonlySet<Permission>
  /** Whether it is the owner, whose role no set of permissions replaces. */
  isOwner: boolean
}

/** An owner, signed in to the console. */
export interface OwnerActor extends Allowed {
  kind: 'owner'
  ownerId: string
  sessionId: string
  address: string
}

/** A reseller, signed in to its portal; it acts on rows of the owner it belongs to. */
export interface ResellerActor {
  kind: 'reseller'
  ownerId: string
  resellerId: string
  appId: string
  sessionId: string
  address: string
}

/** A vendor's program with its session, if it has opened one. */
export interface ProgramActor {
  kind: 'program'
  ownerId: string
  appId: string
  sessionId: string | null
  address: string
}

/** A caller who names an account without proving to own it, to request a reset link. */
interface AnonymousActor {
  kind: 'anonymous'
  ownerId: string
  address: string
}

/** The payment provider, reporting on an order of this owner. */
export interface ProviderActor {
  kind: 'provider'
  ownerId: string
  provider: string
}

/** The operator at the server's command line; `ownerId` is null for changes that concern all owners. */
interface OperatorActor {
  kind: 'operator'
  ownerId: string | null
}

/** The server itself; its housekeeping belongs to no owner. */
export interface SystemActor {
  kind: 'system'
  ownerId: null
}

/** Callers who manage an owner's data through the API. */
export type VendorActor = OwnerActor

/** Who performs a write. */
export type Actor =
  | OwnerActor
  | ResellerActor
  | ProgramActor
  | AnonymousActor
  | ProviderActor
  | OperatorActor
  | SystemActor

const allPermissions: ReadonlySet<Permission> = new Set(permissions)

/** An owner may do everything. */
export const toOwnerActor = (session: {
  ownerId: string
  sessionId: string
  address: string
}): OwnerActor => ({ kind: 'owner', ...session, permissions: allPermissions, isOwner: true })

/** Whether an actor meets what a call needs; calls of other actors than an owner's need nothing more. */
export function meets(actor: Actor, needed: Requirement | undefined): boolean {
  if (needed === undefined || needed === 'self') return true
  if (actor.kind !== 'owner') return false
  return needed === 'ownership' ? actor.isOwner : actor.permissions.has(needed)
}

export const system: SystemActor = { kind: 'system', ownerId: null }

/** The columns that identify an actor in the audit log. */
export function toAuditColumns(actor: Actor) {
  const { sessionId = null, address = null } = actor as Partial<OwnerActor>
  return { actor_kind: actor.kind, actor_id: idOf(actor), session_id: sessionId, address }
}

function idOf(actor: Actor): string {
  switch (actor.kind) {
    case 'owner':
      return actor.ownerId
    case 'reseller':
      return actor.resellerId
    case 'program':
      return actor.appId
    case 'anonymous':
      return 'anonymous'
    case 'provider':
      return actor.provider
    case 'operator':
      return 'command line'
    case 'system':
      return 'server'
  }
}
