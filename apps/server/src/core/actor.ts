import { type Permission, permissions, type Requirement } from '@keyward/contract'

/** What an actor who manages an owner's things may do. */
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

/** A vendor's program, with the session that it opened. */
export interface ProgramActor {
  kind: 'program'
  ownerId: string
  appId: string
  sessionId: string | null
  address: string
}

/** Somebody who names an account without proving to own it: asks for a link to a new password. */
export interface AnonymousActor {
  kind: 'anonymous'
  ownerId: string
  address: string
}

/** The payment provider, which reports on an order of this owner. */
export interface ProviderActor {
  kind: 'provider'
  ownerId: string
  provider: string
}

/** The person at the server's command line; `ownerId` is null for what concerns all owners. */
export interface OperatorActor {
  kind: 'operator'
  ownerId: string | null
}

/** The server itself: housekeeping, which records nothing of an owner. */
export interface SystemActor {
  kind: 'system'
  ownerId: null
}

/** Whoever manages an owner's things through the API: the owner; staff and API keys are added here. */
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

/** The columns by which the audit log names an actor. */
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
