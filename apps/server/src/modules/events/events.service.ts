import type { Readable } from 'node:stream'
import type { ActionName } from '@keyward/contract'
import { isVendor } from '../../core/actor.ts'
import type { ActionRecord, RecordConsumer } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { type Concerned, EventHub } from './events.hub.ts'
import type { Listener, Topic } from './events.stream.ts'

export interface Events {
  open(listener: Listener): Readable
  /** Notifies the streams of those who may see what these records changed. */
  publish: RecordConsumer
  /** Notifies the streams of those who may see these apps that the activity log has grown. */
  notifyActivity(apps: readonly Concerned[]): void
  start(): Promise<void>
  /** Closes every stream so that the server can stop. */
  endStreams(): void
  stop(): Promise<void>
}

export function createEvents(
  ctx: Ctx,
  options: { onError: (error: unknown) => void; heartbeatMs?: number | undefined },
): Events {
  const hub = new EventHub(ctx, options)
  const feed = ctx.database.engine.openFeed({
    onMessage: (message) => {
      const [id = '', topic, appId = null] = message.split(' ')
      if (topic === 'sessions') endClosed([id])
      else if (topic === 'access') hub.endStreamsOf(id)
      else hub.notify({ ownerId: id, appId }, topic === 'activity' ? topic : 'change')
    },
    onGap: () => hub.notifyAll(),
    onError: options.onError,
  })
  const endClosed = (ids: Iterable<string>) => {
    for (const id of ids) void hub.endClosed(id).catch(options.onError)
  }
  return {
    open: hub.open.bind(hub),
    endStreams: hub.close.bind(hub),
    publish: (records) => {
      const holders = holdersOfEnded(records)
      endClosed(holders)
      const rejudged = records.filter(({ action }) => changeAccess.has(action))
      feed.send([
        ...messagesOf('change', records),
        ...[...holders].map((id) => `${id} sessions`),
        ...rejudged.map(({ ownerId }) => `${ownerId} access`),
      ])
    },
    notifyActivity: (apps) => feed.send(messagesOf('activity', apps)),
    start: () => feed.start(),
    stop: () => feed.stop(),
  }
}

/** Without an app, a message is for those who may see all apps. */
function messagesOf(topic: Topic, changes: readonly Pick<ActionRecord, 'ownerId' | 'appId'>[]): Set<string> {
  const ofOwners = changes.filter(({ ownerId }) => ownerId !== null)
  return new Set(
    ofOwners.map(({ ownerId, appId }) => [ownerId, topic, ...(appId === null ? [] : [appId])].join(' ')),
  )
}

/** What a person may do at the vendor has changed. */
const changeAccess: ReadonlySet<ActionName> = new Set([
  'member.updated',
  'member.removed',
  'member.left',
  'vendor.handed_over',
  // The owner may require a second factor now.
  'settings.updated',
])

const endSessions: ReadonlySet<ActionName> = new Set([
  'owner.signed_out',
  'owner.password_changed',
  'owner.password_reset',
  'owner.session_ended',
  'owner.sessions_ended',
  'platform.reset',
  'account.deleted',
])

/** The vendors and the people whose sessions some of these records ended. */
function holdersOfEnded(records: readonly ActionRecord[]): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const { action, ownerId, actor } of records) {
    if (!endSessions.has(action)) continue
    if (ownerId !== null) ids.add(ownerId)
    if (isVendor(actor) || actor.kind === 'account') ids.add(actor.actorId)
  }
  return ids
}
