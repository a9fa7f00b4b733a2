import type { Tx } from '../db/open.ts'
import { noteChange } from './changes.ts'
import type { OwnerScope } from './ctx.ts'
import { newId } from './ids.ts'

export interface AuditEntry {
  ownerId: string
  actor: { kind: 'owner' | 'reseller' | 'client' | 'operator' | 'provider'; id: string }
  action: string
  targetId?: string | undefined
  detail?: Record<string, unknown> | undefined
  now: number
}

/** Writes who did what, in the transaction that does it. Details hold no secret. */
export async function audit(tx: Tx, entry: AuditEntry): Promise<void> {
  noteChange(tx, entry.ownerId)
  await tx
    .insertInto('audit')
    .values({
      id: newId('aud'),
      owner_id: entry.ownerId,
      actor_kind: entry.actor.kind,
      actor_id: entry.actor.id,
      action: entry.action,
      target_id: entry.targetId ?? null,
      detail: entry.detail ? JSON.stringify(entry.detail) : null,
      created_at: entry.now,
    })
    .execute()
}

/** Writes what the owner itself does. */
export const auditOwner = (
  tx: Tx,
  { ownerId }: OwnerScope,
  now: number,
  action: string,
  targetId?: string | undefined,
  detail?: Record<string, unknown>,
): Promise<void> =>
  audit(tx, { ownerId, actor: { kind: 'owner', id: ownerId }, action, targetId, detail, now })
