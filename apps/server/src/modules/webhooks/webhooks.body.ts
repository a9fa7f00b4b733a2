import { type DeliveredName, type EventNoun, eventFacts, type Permission } from '@keyward/contract'
import { sees, type VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { Problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findNames } from '../audit/audit.names.ts'
import { nameInDetail, namesOf, readableIds, subjectKind } from '../audit/audit.rules.ts'
import { showCustomersIn } from '../customers/faces.access.ts'
import type { Description, Names, Question } from '../description.ts'

export interface QueuedEvent {
  id: string
  ownerId: string
  appId: string | null
  action: DeliveredName
  actor: { kind: string; id: string }
  targetId: string | null
  /** As the audit log stores it: bounded, without secrets. */
  detail: Readonly<Record<string, unknown>>
  /** In milliseconds since 1970. */
  at: number
}

/** Builds what a webhook sends for an event; undefined if its maker may not read the event at this moment. */
export async function toBody(
  { ctx, modules }: { ctx: Ctx; modules: readonly Description[] },
  event: QueuedEvent,
  maker: VendorActor,
): Promise<string | undefined> {
  const { action, appId, detail, targetId } = event
  const { noun, permission } = eventFacts(action)
  if (event.ownerId !== maker.ownerId || !maker.permissions.has(permission) || !sees(maker, appId)) {
    return undefined
  }
  const object =
    targetId === null && noun !== 'settings'
      ? null
      : await readObject(modules, noun, { ctx, maker, id: targetId ?? '', appId: appId ?? '', detail })
  const { kind, id } = event.actor
  const known = namesOf(modules)
  const names = await readNames(ctx.db, known, maker, targetId === null ? [id] : [id, targetId])
  const body = JSON.stringify({
    type: action,
    timestamp: toIso(event.at),
    data: {
      actor: { kind, _id: id, name: names.get(id) ?? null },
      subject: targetId && toSubject(known, event, targetId, names.get(targetId)),
      object,
      detail,
    },
  })
  return showCustomersIn(ctx.db, maker, body)
}

/** The names of people and objects that the maker may read, as in the audit log. */
function readNames(db: Ctx['db'], known: Names, maker: VendorActor, ids: readonly string[]) {
  const may = (permission: Permission) => maker.permissions.has(permission)
  const reader = { scope: maker, seesAddresses: may('members:read'), actorId: maker.actorId }
  return findNames(db, known, reader, readableIds(known, ids, may))
}

function toSubject(
  known: Names,
  { action, detail }: QueuedEvent,
  id: string,
  name: string | null | undefined,
) {
  const kind = subjectKind(known, id, action)
  return { kind, _id: id, name: name ?? nameInDetail(known, kind, detail) }
}

/** The object of an event as the API shows it to the maker of a webhook, without secrets; null if it is gone. */
export async function readObject(
  modules: readonly Description[],
  noun: EventNoun,
  question: Question,
): Promise<object | null> {
  const read = modules.find(({ objects }) => objects?.[noun])?.objects?.[noun]
  try {
    return (await read?.(question)) ?? null
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return null
    throw error
  }
}
