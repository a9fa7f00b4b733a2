import { type DeliveredName, type EventNoun, eventFacts } from '@keyward/contract'
import { sees, type VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import { prefixOf, readName } from './webhooks.names.ts'
import { readObject } from './webhooks.objects.ts'

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
export async function toBody(ctx: Ctx, event: QueuedEvent, maker: VendorActor): Promise<string | undefined> {
  const { action, appId, detail, targetId } = event
  const { noun, permission } = eventFacts(action)
  if (event.ownerId !== maker.ownerId || !maker.permissions.has(permission) || !sees(maker, appId)) {
    return undefined
  }
  const object =
    targetId === null && noun !== 'settings'
      ? null
      : await readObject(noun, { ctx, maker, id: targetId ?? '', appId: appId ?? '', detail })
  const { kind, id } = event.actor
  return JSON.stringify({
    type: action,
    timestamp: toIso(event.at),
    data: {
      actor: { kind, _id: id, name: await readName(ctx.db, maker, id) },
      subject: targetId && (await toSubject(ctx, maker, { id: targetId, noun, object, detail })),
      object,
      detail,
    },
  })
}

interface Subject {
  id: string
  noun: EventNoun
  object: object | null
  detail: QueuedEvent['detail']
}

/** What ids begin with, where a subject is something other than the noun of its event says. */
const kinds: Readonly<Record<string, string>> = { app: 'app', usr: 'end_user', own: 'vendor', acc: 'account' }

/** Where the detail names its subject. */
const namesInDetail: Readonly<Record<string, string>> = {
  app: 'name',
  license_type: 'name',
  api_key: 'name',
  member: 'email',
  release: 'version',
  block: 'value',
  webhook: 'origin',
}

const namesInObject = ['name', 'username', 'key', 'version', 'value', 'email']

async function toSubject({ db }: Ctx, maker: VendorActor, { id, noun, object, detail }: Subject) {
  const kind = kinds[prefixOf(id)] ?? noun
  const name =
    textIn(object, namesInObject) ??
    (await readName(db, maker, id)) ??
    textIn(detail, [namesInDetail[kind] ?? ''])
  return { kind, _id: id, name }
}

function textIn(fields: object | null, names: readonly string[]): string | null {
  const texts = names.map((name) => (fields as Record<string, unknown> | null)?.[name])
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? null
}
